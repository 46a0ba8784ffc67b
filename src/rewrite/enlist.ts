import { ts } from 'ts-morph';
import { unwrap } from './ast.js';
import { bindCall, type Binder, type BindScope } from './bind.js';
import { callsOf, guardCalls, usesDatabase, type LocatedCall, type TransactionCode } from './calls.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import type { HandDown } from './hand-down.js';

/** Calls that use no database themselves and give something that does. */
const givers = new Set(['createQueryBuilder', 'getRepository', 'getTreeRepository']);

/**
 * Makes every database call of the code run in the transaction: calls on the ORM are bound to its manager, functions of the
 * project get it handed down. Refuses when one can't be.
 */
export function enlist(edits: EditSet, code: TransactionCode, how: { readonly binder: Binder; readonly handDown: HandDown; readonly manager: string }, context: CodemodContext): void {
  const calls = callsOf(edits, code, context);
  guardCalls(code, calls, context);
  const scope: BindScope = {
    binder: how.binder,
    context,
    isBound: (call) => isGiver(calls, rootCall(call)),
    contains: (node) => code.roots.some((root) => root.pos <= node.pos && root.end >= node.end),
  };
  for (const located of calls) {
    if (located.call.callee.kind === 'project' && usesDatabase(located.call)) how.handDown.pass(code.file, located, how.manager);
    else if (usesDatabase(located.call) || isGiver(calls, located.node)) bindCall(edits, code.file, located.call, located.node, scope);
  }
}

function isGiver(calls: readonly LocatedCall[], node: ts.CallExpression): boolean {
  const located = calls.find((candidate) => candidate.node === node);
  return located !== undefined && located.call.receiver?.module === 'typeorm' && ts.isPropertyAccessExpression(node.expression) && givers.has(node.expression.name.text);
}

/** The first call of a chain: `a.b()` in `a.b().c().d()`. */
function rootCall(call: ts.CallExpression): ts.CallExpression {
  const callee = unwrap(call.expression);
  const receiver = ts.isPropertyAccessExpression(callee) ? unwrap(callee.expression) : null;
  return receiver !== null && ts.isCallExpression(receiver) ? rootCall(receiver) : call;
}
