import { ts } from 'ts-morph';
import type { Finding } from '../core/finding.js';
import { findCall, findFunction, lineOf, walk, type FunctionNode } from './ast.js';
import type { CodemodContext } from './codemod.js';
import { short } from './message.js';
import { isLogging } from './publish.js';
import { refuse } from './refusal.js';
import { isReference } from './scope.js';

/**
 * Guards: on the way from the handler down to the publish, every function passes the message on as it is. One that picks
 * fields out of it, or wraps it, would publish something else than what is stored.
 */
export function guardMessageFlow(finding: Finding, call: ts.CallExpression, message: ts.Expression, context: CodemodContext): void {
  const sites = [...finding.publish.path.slice(1).map(({ span }) => span), finding.publish.span];
  let index = call.arguments.findIndex((argument) => argument.pos <= message.pos && argument.end >= message.end);
  if (finding.publish.path.length === 0) return;
  for (const site of sites) {
    const source = context.analysis.sourceFile(site.file);
    const fn = source === null ? null : outermostFunction(source, site, context);
    const next = source === null ? null : findCall(source, site);
    const parameter = fn?.parameters[index];
    if (fn === null || next === null || parameter === undefined || !ts.isIdentifier(parameter.name)) return built(finding, call);
    guardUses(finding, call, fn, parameter.name.text);
    index = next.arguments.findIndex((argument) => mentions(argument, parameter.name.getText(), 0));
    if (index === -1) built(finding, call);
  }
}

/** The named function around the publish: callbacks inside it (retries, promise executors) see its parameters. */
function outermostFunction(source: ts.SourceFile, site: { readonly file: string; readonly start: number; readonly end: number }, context: CodemodContext): FunctionNode | null {
  const ref = context.analysis.functionAt(site);
  const inner = ref === null ? null : findFunction(source, ref.span);
  let fn = inner;
  for (let node: ts.Node | undefined = inner?.parent; node !== undefined && fn !== null && !ts.isMethodDeclaration(fn) && !ts.isFunctionDeclaration(fn); node = node.parent) {
    if (ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isArrowFunction(node)) fn = node;
  }
  return fn;
}

function guardUses(finding: Finding, call: ts.CallExpression, fn: FunctionNode, name: string): void {
  if (fn.body === undefined) return built(finding, call);
  walk(fn.body, (node) => {
    if (ts.isCallExpression(node) && isLogging(node)) return false;
    const isUse = ts.isIdentifier(node) && node.text === name && (isReference(node) || ts.isShorthandPropertyAssignment(node.parent));
    if (isUse && ts.findAncestor(node, (ancestor) => (ancestor === fn ? 'quit' : ts.isObjectLiteralExpression(ancestor))) !== undefined) built(finding, call);
    return true;
  });
}

/** Whether an argument is made of the parameter, directly or through local variables. */
function mentions(argument: ts.Node, name: string, depth: number): boolean {
  if (ts.isIdentifier(argument) && argument.text === name) return true;
  let found = false;
  const visit = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node) && isReference(node)) {
      if (node.text === name && !ts.isPropertyAccessExpression(node.parent)) found = true;
      else if (depth < 4 && !found) found = throughVariable(node, name, depth);
    }
    return !found;
  };
  if (visit(argument)) walk(argument, visit);
  return found;
}

function throughVariable(node: ts.Identifier, name: string, depth: number): boolean {
  for (let scope: ts.Node | undefined = node.parent; scope !== undefined; scope = scope.parent) {
    if (!ts.isBlock(scope)) continue;
    for (const statement of scope.statements) {
      if (!ts.isVariableStatement(statement)) continue;
      const declaration = statement.declarationList.declarations.find((candidate) => candidate.name.getText() === node.text);
      if (declaration?.initializer !== undefined) return mentions(declaration.initializer, name, depth + 1);
    }
  }
  return false;
}

function built(finding: Finding, call: ts.CallExpression): never {
  refuse('message-built-elsewhere', `'${short(call)}' (${finding.handler.file}:${lineOf(call)}) does not publish its argument as it is: the message is made in ${finding.publish.file}:${finding.publish.line} or on the way there. Let it take the finished event, and build the event in '${finding.handler.name}'.`);
}
