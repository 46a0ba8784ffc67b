import { ts } from 'ts-morph';
import type { BindingFact, Expression, Step } from '../facts.js';
import { type Declarations, propertyName, readExpression } from './expressions.js';
import { EXPORTED, exportTarget } from './modules.js';
import { typeFact } from './types.js';

/** Steps of a list of statements, in order. Declarations of functions and classes are handed to `declarations`. */
export function readStatements(statements: readonly ts.Statement[], declarations: Declarations): Step[] {
  return statements.flatMap((statement) => readStatement(statement, declarations));
}

function readStatement(node: ts.Statement, declarations: Declarations): Step[] {
  const read = (expression: ts.Expression): Expression => readExpression(expression, declarations);
  const body = (statement: ts.Statement | undefined): Step[] => (statement === undefined ? [] : readStatement(statement, declarations));
  if (ts.isExpressionStatement(node)) return [readExported(node.expression, declarations) ?? { kind: 'expression', expression: read(node.expression) }];
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map((d) => readDeclaration(d, declarations));
  if (ts.isReturnStatement(node)) return [{ kind: 'return', value: node.expression === undefined ? null : read(node.expression) }];
  if (ts.isThrowStatement(node)) return [{ kind: 'throw', value: read(node.expression) }];
  if (ts.isBreakStatement(node) || ts.isContinueStatement(node)) return [{ kind: 'jump', by: ts.isBreakStatement(node) ? 'break' : 'continue' }];
  if (ts.isBlock(node)) return [{ kind: 'block', body: readStatements(node.statements, declarations) }];
  if (ts.isLabeledStatement(node)) return body(node.statement);
  if (ts.isIfStatement(node)) return [{ kind: 'if', test: read(node.expression), then: body(node.thenStatement), otherwise: body(node.elseStatement) }];
  if (ts.isTryStatement(node)) {
    return [{
      kind: 'try', block: readStatements(node.tryBlock.statements, declarations),
      handler: node.catchClause === undefined ? null : readStatements(node.catchClause.block.statements, declarations),
      finalizer: node.finallyBlock === undefined ? null : readStatements(node.finallyBlock.statements, declarations),
    }];
  }
  if (ts.isSwitchStatement(node)) {
    return [{
      kind: 'switch', subject: read(node.expression), hasDefault: node.caseBlock.clauses.some(ts.isDefaultClause),
      cases: node.caseBlock.clauses.map((clause) => readStatements(clause.statements, declarations)),
    }];
  }
  if (ts.isIterationStatement(node, false)) return [readLoop(node, declarations)];
  if (ts.isFunctionDeclaration(node)) declarations.functionOf(node);
  if (ts.isClassDeclaration(node)) declarations.classOf(node);
  if (ts.isModuleDeclaration(node)) return readNamespace(node, declarations);
  if (ts.isExportAssignment(node)) return [{ kind: 'declare', binding: { kind: 'name', name: EXPORTED }, type: null, value: read(node.expression) }];
  return [];
}

/** What stands in a namespace, as if it stood around it. */
function readNamespace(node: ts.ModuleDeclaration, declarations: Declarations): Step[] {
  const { body } = node;
  if (body === undefined || node.modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.DeclareKeyword) === true) return [];
  if (ts.isModuleBlock(body)) return readStatements(body.statements, declarations);
  return ts.isModuleDeclaration(body) ? readNamespace(body, declarations) : [];
}

/** `exports.a = …` declares what the module exports under a name of its own. */
function readExported(node: ts.Expression, declarations: Declarations): Step | null {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return null;
  const name = exportTarget(node.left);
  return name === null ? null : { kind: 'declare', binding: { kind: 'name', name }, type: null, value: readExpression(node.right, declarations) };
}

function readLoop(node: ts.IterationStatement, declarations: Declarations): Step {
  const read = (expression: ts.Expression): Expression => readExpression(expression, declarations);
  const body = readStatement(node.statement, declarations);
  if (ts.isForOfStatement(node) || ts.isForInStatement(node)) {
    const first = ts.isVariableDeclarationList(node.initializer) ? node.initializer.declarations[0] : undefined;
    return { kind: 'loop', binding: first === undefined ? null : readBinding(first.name), over: read(node.expression), head: [], body };
  }
  if (ts.isForStatement(node)) {
    const { initializer } = node;
    const before: Step[] = initializer === undefined ? []
      : ts.isVariableDeclarationList(initializer) ? initializer.declarations.map((d) => readDeclaration(d, declarations))
      : [{ kind: 'expression', expression: read(initializer) }];
    const head = [node.condition, node.incrementor].flatMap((part) => (part === undefined ? [] : [read(part)]));
    return { kind: 'block', body: [...before, { kind: 'loop', binding: null, over: null, head, body }] };
  }
  const condition = ts.isWhileStatement(node) || ts.isDoStatement(node) ? [read(node.expression)] : [];
  return { kind: 'loop', binding: null, over: null, head: condition, body };
}

function readDeclaration(node: ts.VariableDeclaration, declarations: Declarations): Step {
  return {
    kind: 'declare', binding: readBinding(node.name), type: typeFact(node.type),
    value: node.initializer === undefined ? null : readExpression(node.initializer, declarations),
  };
}

/** What a name or a pattern binds. */
export function readBinding(name: ts.BindingName): BindingFact {
  if (ts.isIdentifier(name)) return { kind: 'name', name: name.text };
  if (ts.isArrayBindingPattern(name)) {
    return { kind: 'array', items: name.elements.map((element) => (ts.isOmittedExpression(element) ? null : readBinding(element.name))) };
  }
  return {
    kind: 'object',
    properties: name.elements.map((element) => ({
      key: element.dotDotDotToken !== undefined ? null : element.propertyName !== undefined ? propertyName(element.propertyName) : ts.isIdentifier(element.name) ? element.name.text : null,
      binding: readBinding(element.name),
    })),
  };
}
