import { ts } from 'ts-morph';
import { lineOf, walk } from './ast.js';
import { usesDatabase, type LocatedCall, type TransactionCode } from './calls.js';
import { short } from './message.js';
import { refuse } from './refusal.js';

/**
 * Guards: no database call of the code runs behind a failed one. PostgreSQL refuses every statement of a transaction in which one
 * has failed, and the error of that refusal takes the place of the first one; what a `catch` or `finally` writes is gone in any case.
 */
export function guardAfterFailures(code: TransactionCode, calls: readonly LocatedCall[]): void {
  for (const located of calls.filter(({ call }) => usesDatabase(call))) {
    const { node } = located;
    const at = `${code.file}:${lineOf(node)}`;
    const swallowed = swallowingTry(node, code.roots);
    if (swallowed !== null) refuse('catch-in-span', `'${short(node)}' (${at}) is in a 'try' whose ${swallowed.word} (line ${lineOf(swallowed.block)}) goes on. After a failed statement PostgreSQL refuses all others of the transaction. End the 'catch' with a 'throw' on every path, or move it around the write and the publish.`);
    guardHandler(code, calls, located, at);
  }
}

/** The `catch`, or the `finally`, that lets the function go on after the node has failed. */
function swallowingTry(node: ts.Node, roots: readonly ts.Node[]): { readonly word: string; readonly block: ts.Node } | null {
  for (let inner = node; inner.parent !== undefined && !roots.includes(inner); inner = inner.parent) {
    const { parent } = inner;
    if (ts.isFunctionLike(parent)) return null;
    if (!ts.isTryStatement(parent)) continue;
    const { catchClause, finallyBlock } = parent;
    if (parent.tryBlock === inner && catchClause !== undefined && !alwaysThrows(catchClause.block)) return { word: "'catch'", block: catchClause };
    if (finallyBlock !== undefined && finallyBlock !== inner && leaves(finallyBlock)) return { word: "'finally'", block: finallyBlock };
  }
  return null;
}

/** Whether a block ends with a `throw`, and has no way out before it. */
function alwaysThrows(block: ts.Block): boolean {
  const last = block.statements[block.statements.length - 1];
  return last !== undefined && ts.isThrowStatement(last) && !leaves(block);
}

/** Whether something below a block goes on elsewhere: a `return`, or a `break` or `continue` of what is around it. */
function leaves(block: ts.Block): boolean {
  let found = false;
  walk(block, (node) => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isReturnStatement(node)) found = true;
    if (ts.isBreakOrContinueStatement(node)) {
      const target = ts.findAncestor(node, (ancestor) => (ancestor === block ? 'quit' : ts.isIterationStatement(ancestor, false) || (ts.isBreakStatement(node) && ts.isSwitchStatement(ancestor))));
      if (target === undefined || node.label !== undefined) found = true;
    }
    return !found;
  });
  return found;
}

/** Guards for a database call in a `catch` or `finally`: nothing before it may have failed in the transaction, and its write may stay. */
function guardHandler(code: TransactionCode, calls: readonly LocatedCall[], { call, node }: LocatedCall, at: string): void {
  for (let inner: ts.Node = node; inner.parent !== undefined && !code.roots.includes(inner); inner = inner.parent) {
    const { parent } = inner;
    if (ts.isFunctionLike(parent)) return;
    const clause = ts.isCatchClause(parent) ? parent : null;
    const around = clause?.parent ?? (ts.isTryStatement(parent) && parent.finallyBlock === inner ? parent : null);
    if (around === null) continue;
    const word = clause === null ? 'finally' : 'catch';
    const failing = databaseCallsIn(calls, around.tryBlock)[0] ?? (clause === null && around.catchClause !== undefined ? databaseCallsIn(calls, around.catchClause)[0] : undefined);
    const way = `Do it where the error arrives, outside of '${code.fn.name?.getText() ?? 'this function'}', or rewrite this by hand.`;
    if (failing !== undefined) {
      refuse('catch-in-span', `'${short(node)}' (${at}) uses the database in a '${word}', behind '${short(failing.node)}' (line ${lineOf(failing.node)}), which may have failed. After a failed statement PostgreSQL refuses all others of the transaction: what it does would be lost, and its error would hide the first one. ${way}`);
    }
    if (call.effects.write && (clause === null || alwaysThrows(clause.block))) {
      refuse('catch-in-span', `'${short(node)}' (${at}) uses the database in a '${word}' that passes the error on. In the transaction, that error takes back what it writes. ${way}`);
    }
  }
}

/** Database calls below a node, those that open or store something included. */
export function databaseCallsIn(calls: readonly LocatedCall[], root: ts.Node): readonly LocatedCall[] {
  return calls.filter(({ call, node }) => (usesDatabase(call) || call.effects.transaction || call.effects.store) && node.pos >= root.pos && node.end <= root.end);
}
