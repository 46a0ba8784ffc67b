import { ts } from 'ts-morph';
import { unwrap, type FunctionNode } from './ast.js';
import type { Binder } from './bind.js';
import type { EditSet } from './edits.js';
import { freeName, takenNames } from './scope.js';
import { indentAt } from './style.js';

/** A function that takes an optional manager. */
export interface HelperBody {
  readonly file: string;
  readonly fn: FunctionNode;
  readonly body: ts.Block;
  /** Name of the parameter. */
  readonly manager: string;
  /** The body is one line: write the choice where it is used, not as a variable before it. */
  readonly inline: boolean;
}

/** Binds calls in a function that runs with and without a transaction: a variable at its top holds the right repository. */
export function helperBinder(edits: EditSet, helper: HelperBody): { readonly binder: Binder; finish(): void } {
  const taken = new Set(takenNames(helper.fn));
  taken.add(helper.manager);
  const variables = new Map<string, { readonly name: string; readonly value: string }>();

  const choose = (receiver: ts.Expression, name: string, value: string): string => {
    const key = `${name}\0${value}`;
    if (helper.inline || !isStable(receiver, helper)) return `(${value})`;
    const known = variables.get(key);
    if (known !== undefined) return known.name;
    const free = freeName([name, `${name}InTransaction`], taken);
    taken.add(free);
    variables.set(key, { name: free, value });
    return free;
  };

  const binder: Binder = {
    repository: (receiver) => choose(receiver, variableName(receiver, 'repository'), `${helper.manager}?.withRepository(${receiver.getText()}) ?? ${receiver.getText()}`),
    customRepository: (receiver) => {
      return choose(receiver, variableName(receiver, 'repository'), `${helper.manager}?.getRepository(${receiver.getText()}.target) ?? ${receiver.getText()}`);
    },
    manager: (receiver, kind) => {
      const fallback = kind === 'data-source' ? `${receiver.getText()}.manager` : receiver.getText();
      return choose(receiver, 'entityManager', `${helper.manager} ?? ${fallback}`);
    },
  };
  return { binder, finish: () => declare(edits, helper, [...variables.values()]) };
}

/** `this.orders`, `this`, a parameter: the same at the top of the function as where it is used. */
function isStable(receiver: ts.Expression, helper: HelperBody): boolean {
  const inner = unwrap(receiver);
  if (inner.kind === ts.SyntaxKind.ThisKeyword) return true;
  if (ts.isIdentifier(inner)) return helper.fn.parameters.some((parameter) => parameter.name.getText() === inner.text);
  return ts.isPropertyAccessExpression(inner) && isStable(inner.expression, helper);
}

function variableName(receiver: ts.Expression, fallback: string): string {
  const inner = unwrap(receiver);
  if (ts.isPropertyAccessExpression(inner)) return inner.name.text.replace(/^[_#]+/, '');
  return fallback;
}

function declare(edits: EditSet, helper: HelperBody, variables: readonly { readonly name: string; readonly value: string }[]): void {
  if (variables.length === 0) return;
  const { text, style } = edits.open(helper.file);
  const first = helper.body.statements[0];
  const indent = first === undefined ? indentAt(text, helper.body.getStart()) + style.indent : indentAt(text, first.getStart());
  const lines = variables.map(({ name, value }) => `${style.eol}${indent}const ${name} = ${value}${style.semicolon}`);
  edits.insert(helper.file, helper.body.getStart() + 1, lines.join(''));
}
