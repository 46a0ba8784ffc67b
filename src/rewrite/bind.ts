import { ts } from 'ts-morph';
import type { Receiver, ResolvedCall } from '../core/finding.js';
import { decoratorNames, enclosingClass, findNode, lineOf, unwrap } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { short } from './message.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';
import { findVariable } from './scope.js';
import { findManifests } from '../workspace/manifests.js';

/** Writes the expressions by which database calls reach the transaction. */
export interface Binder {
  /** For a repository of TypeORM's own class. */
  repository(receiver: ts.Expression): string;
  /** For a repository that can't be made again with another manager: what its class inherits is taken from a new one for the same entity. */
  customRepository(receiver: ts.Expression): string;
  /** For an entity manager, or whatever has one. */
  manager(receiver: ts.Expression, kind: 'manager' | 'data-source'): string;
}

const dataSourceMembers = new Set(['query', 'createQueryBuilder', 'getRepository', 'getTreeRepository']);

/** Sends one database call through the transaction. The call's receiver must be known. */
export function bindCall(edits: EditSet, file: string, call: ResolvedCall, node: ts.CallExpression, scope: BindScope): void {
  const { receiver } = call;
  if (receiver === null) refuse('receiver-unknown', `It can not be told which repository or manager '${short(node.expression)}' (${file}:${lineOf(node)}) goes through.`);
  const expression = receiverNode(edits, file, receiver);
  if (expression.kind === ts.SyntaxKind.SuperKeyword) refuse('receiver-unknown', `'${short(node.expression)}' (${file}:${lineOf(node)}) calls what its class inherits from '${receiver.module}', on the connection of the repository itself. Give the method another name and call 'this' in it, so that it can be sent through the transaction.`);
  if (receiver.module !== 'typeorm') refuse('no-codemod', `'${short(node.expression)}' (${file}:${lineOf(node)}) writes through '${receiver.module}', which no codemod knows how to bind to a transaction.`);
  const inner = unwrap(expression);
  if (ts.isCallExpression(inner)) {
    if (scope.isBound(inner)) return;
    refuse('receiver-unknown', `'${short(inner)}' (${file}:${lineOf(node)}) gives a repository or query builder that can not be bound to the transaction.`);
  }
  const text = bound(edits, file, receiver, expression, node, scope);
  if (text !== null) edits.replace(file, { start: expression.getStart(), end: expression.getEnd() }, text);
}

/** What is around a call that is being bound. */
export interface BindScope {
  readonly binder: Binder;
  readonly context: CodemodContext;
  /** Whether a call that gives a repository or query builder is bound itself. */
  isBound(call: ts.CallExpression): boolean;
  /** Whether a position is inside the code that runs in the transaction. */
  contains(node: ts.Node): boolean;
}

function receiverNode(edits: EditSet, file: string, receiver: Receiver): ts.Expression {
  const node = receiver.span.file === file ? findNode(edits.open(file).source, receiver.span) : null;
  if (node === null || !ts.isExpression(node)) refuse('receiver-unknown', `A database call in ${file} has a receiver that could not be found again.`);
  return node;
}

function bound(edits: EditSet, file: string, receiver: Receiver, expression: ts.Expression, node: ts.CallExpression, scope: BindScope): string | null {
  const at = `${file}:${lineOf(node)}`;
  switch (receiver.type) {
    case 'Repository':
    case 'TreeRepository':
      return isCustomRepository(file, expression, scope.context) || keepsItsManager(scope.context) ? scope.binder.customRepository(expression) : scope.binder.repository(expression);
    case 'EntityManager':
      return scope.binder.manager(expression, 'manager');
    case 'DataSource':
    case 'Connection': {
      const member = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : '';
      if (!dataSourceMembers.has(member)) refuse('receiver-unknown', `'${short(node.expression)}' (${at}) can not be sent through the manager of the transaction.`);
      return scope.binder.manager(expression, 'data-source');
    }
    case 'BaseEntity':
      refuse('active-record', `'${short(node.expression)}' (${at}) saves itself, on a connection of its own. Save it through a repository.`);
      break;
    default:
      if (!receiver.type.endsWith('QueryBuilder')) refuse('receiver-unknown', `'${short(node.expression)}' (${at}) goes through a '${receiver.type}', which can not be bound to the transaction.`);
      guardQueryBuilder(edits, file, expression, scope);
      return null;
  }
}

function guardQueryBuilder(edits: EditSet, file: string, expression: ts.Expression, scope: BindScope): void {
  const name = unwrap(expression);
  const declaration = ts.isIdentifier(name) ? findVariable(name, name.text) : null;
  const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : null;
  if (declaration === null || !scope.contains(declaration) || value === null || !ts.isCallExpression(value) || !scope.isBound(value)) {
    refuse('query-builder-outside', `The query builder '${short(expression)}' (${file}:${lineOf(expression)}) is made outside of the transaction. Make it where it is executed.`);
  }
}

/**
 * Whether a receiver may be of a class of the project. Only what `@InjectRepository` gives is surely TypeORM's own:
 * `withRepository` makes a new instance by the constructor, and another class may have another one.
 */
function isCustomRepository(file: string, receiver: ts.Expression, context: CodemodContext): boolean {
  const inner = unwrap(receiver);
  if (ts.isIdentifier(inner)) {
    const declaration = findVariable(inner, inner.text);
    const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : null;
    return value === null || !ts.isPropertyAccessExpression(value) || isCustomRepository(file, value, context);
  }
  if (!ts.isPropertyAccessExpression(inner) || inner.expression.kind !== ts.SyntaxKind.ThisKeyword) return true;
  const property = propertyOf(enclosingClass(inner), inner.name.text);
  const name = /^[\w$]+/.exec(property?.type?.getText() ?? '')?.[0] ?? '';
  return property === null || !decoratorNames(property).includes('InjectRepository') || projectOf(context.workspace).moduleOf(file, name) !== 'typeorm';
}

/**
 * Whether repositories carry a manager that `withRepository` would copy along: typeorm-transactional keeps the original one in a
 * property of each repository, and TypeORM assigns the properties of the old repository to the new one, over the transaction's manager.
 */
function keepsItsManager({ workspace }: CodemodContext): boolean {
  return findManifests(workspace).some(({ dependencies }) => [...dependencies].some((name) => name.startsWith('typeorm-transactional')));
}

/** Text of the type that a property of `this`, or a variable or parameter, is declared with. */
export function declaredType(expression: ts.Expression): string | null {
  const inner = unwrap(expression);
  if (ts.isIdentifier(inner)) {
    const declaration = findVariable(inner, inner.text);
    return declaration === null || ts.isBindingElement(declaration) ? null : (declaration.type?.getText() ?? null);
  }
  if (!ts.isPropertyAccessExpression(inner) || inner.expression.kind !== ts.SyntaxKind.ThisKeyword) return null;
  return propertyOf(enclosingClass(inner), inner.name.text)?.type?.getText() ?? null;
}

/** A field of a class, also one that is a parameter of its constructor. */
export function propertyOf(owner: ts.ClassDeclaration | null, name: string): ts.ParameterDeclaration | ts.PropertyDeclaration | null {
  for (const member of owner?.members ?? []) {
    if (ts.isPropertyDeclaration(member) && member.name.getText() === name) return member;
    if (!ts.isConstructorDeclaration(member)) continue;
    for (const parameter of member.parameters) {
      if (ts.isParameterPropertyDeclaration(parameter, member) && parameter.name.getText() === name) return parameter;
    }
  }
  return null;
}
