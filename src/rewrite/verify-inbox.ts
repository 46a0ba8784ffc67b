import { ts } from 'ts-morph';
import type { Analysis } from '../analysis/analysis.js';
import type { Subscriber } from '../core/finding.js';
import { enclosingFunction, findCall, findFunction, lineOf, walk } from './ast.js';
import { usesDatabase } from './calls.js';
import { mentionsHandle } from './join.js';
import { short } from './message.js';

/** A database call behind the inbox check that does not get the check's manager; null: all of them do, or an ambient transaction holds them. */
export function unjoinedCall(analysis: Analysis, subscriber: Subscriber): string | null {
  const source = analysis.sourceFile(subscriber.file);
  const fn = source === null ? null : findFunction(source, subscriber.span);
  const check = fn === null ? null : findCheck(fn);
  const handle = check === null ? null : rootName(check.arguments[0]);
  const scope = check === null ? null : enclosingFunction(check);
  if (source === null || check === null || handle === null || scope === null) return null;
  for (const call of analysis.callsIn({ file: subscriber.file, start: scope.getStart(), end: scope.getEnd() })) {
    if (!usesDatabase(call) || call.effects.transaction || call.span.start < check.getEnd()) continue;
    const node = findCall(source, call.span);
    if (node !== null && !mentionsHandle(node, handle)) return `'${short(node)}' (${subscriber.file}:${lineOf(node)}) would not take part in the transaction of '${handle}'`;
  }
  return null;
}

function findCheck(fn: ts.Node): ts.CallExpression | null {
  let found: ts.CallExpression | null = null;
  walk(fn, (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'isFirstDelivery') found = node;
  });
  return found;
}

/** `queryRunner` of `queryRunner.manager`; null for `this.orders.manager`. */
function rootName(expression: ts.Expression | undefined): string | null {
  if (expression === undefined) return null;
  if (ts.isPropertyAccessExpression(expression)) return rootName(expression.expression);
  return ts.isIdentifier(expression) ? expression.text : null;
}
