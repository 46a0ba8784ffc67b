import { ts } from 'ts-morph';
import { lineOf, walk, type FunctionNode } from './ast.js';
import { short } from './message.js';
import { refuse } from './refusal.js';
import type { Region } from './region.js';
import { assignedNames, bindingNames, declaredNames, isReference } from './scope.js';

/**
 * Variables that are declared in the region and used behind it, in order of declaration.
 * Refuses when one can't become a constant that the callback returns, or when the region assigns one from outside.
 */
export function regionVariables(region: Region, moved: readonly ts.Node[], fn: FunctionNode): readonly string[] {
  const inside = region.list.statements.slice(region.first, region.last + 1);
  const behind = region.list.statements.slice(region.last + 1);
  const used = new Set(behind.flatMap((statement) => namesIn(statement, moved)));
  const assignedBehind = new Set(behind.flatMap((statement) => [...assignedNames(statement)]));
  const result: string[] = [];
  const declared = new Set<string>();
  for (const statement of inside) {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement)) {
      refuse('declaration-in-span', `'${short(statement)}' (line ${lineOf(statement)}) is declared between the write and the publish. Move it before the write.`);
    }
    if (!ts.isVariableStatement(statement)) continue;
    for (const name of declaredNames(statement)) {
      declared.add(name);
      if (!used.has(name)) continue;
      if (assignedBehind.has(name)) refuse('declaration-in-span', `'${name}' (line ${lineOf(statement)}) is declared between the write and the publish and assigned behind it. Make it a constant.`);
      result.push(name);
    }
  }
  guardVar(inside);
  guardAssignments(inside, fn);
  return result;
}

/** Names of variables that a statement uses, outside of some nodes. */
export function namesIn(statement: ts.Statement, moved: readonly ts.Node[]): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): boolean => {
    if (moved.includes(node)) return false;
    if (ts.isIdentifier(node) && (isReference(node) || ts.isShorthandPropertyAssignment(node.parent))) names.push(node.text);
    return true;
  };
  if (visit(statement)) walk(statement, visit);
  return names;
}

/** `var` belongs to the function, not to the callback. */
function guardVar(inside: readonly ts.Statement[]): void {
  for (const statement of inside) {
    const visit = (node: ts.Node): boolean => {
      if (ts.isFunctionLike(node)) return false;
      if (ts.isVariableDeclarationList(node) && (node.flags & (ts.NodeFlags.Let | ts.NodeFlags.Const)) === 0) {
        refuse('declaration-in-span', `'${short(node)}' (line ${lineOf(node)}) declares a 'var' between the write and the publish. Make it a constant.`);
      }
      return true;
    };
    if (visit(statement)) walk(statement, visit);
  }
}

/** Variables from outside keep no value that a callback gives them, as far as the compiler can tell. */
function guardAssignments(inside: readonly ts.Statement[], fn: FunctionNode): void {
  for (const statement of inside) {
    const local = new Set<string>();
    for (const other of inside) walk(other, (node) => {
      if (ts.isVariableDeclaration(node)) for (const name of bindingNames(node.name)) local.add(name);
    });
    const outer = [...assignedNames(statement)].find((name) => !local.has(name));
    if (outer !== undefined) refuse('reassigned-variable', `'${outer}' is assigned in line ${lineOf(statement)}, between the write and the publish, and lives outside (in the function of line ${lineOf(fn)}). Make it a constant that is declared there.`);
  }
}
