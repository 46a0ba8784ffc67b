import { ts } from 'ts-morph';
import type { ExportFact, ImportFact } from '../facts.js';

/** Imports and exports of a file: ES modules, `import x = require()`, and CommonJS. */
export function readModule(source: ts.SourceFile): { imports: ImportFact[]; exports: ExportFact[] } {
  const imports: ImportFact[] = [];
  const exports: ExportFact[] = [];
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) imports.push(...importsOf(statement));
    else if (ts.isImportEqualsDeclaration(statement)) imports.push(...importEqualsOf(statement));
    else if (ts.isExportDeclaration(statement)) exports.push(...exportsOf(statement));
    else if (ts.isExportAssignment(statement)) exports.push(...defaultExportOf(statement));
    else if (ts.isVariableStatement(statement)) imports.push(...statement.declarationList.declarations.flatMap(requireOf));
    else if (ts.isExpressionStatement(statement)) exports.push(...commonJsExportsOf(statement.expression));
    exports.push(...declaredExportsOf(statement));
  }
  return { imports, exports };
}

function importsOf(node: ts.ImportDeclaration): ImportFact[] {
  if (!ts.isStringLiteral(node.moduleSpecifier) || node.importClause === undefined) return [];
  const module = node.moduleSpecifier.text;
  const { name, namedBindings } = node.importClause;
  const result: ImportFact[] = name === undefined ? [] : [{ local: name.text, module, name: 'default' }];
  if (namedBindings === undefined) return result;
  if (ts.isNamespaceImport(namedBindings)) return [...result, { local: namedBindings.name.text, module, name: '*' }];
  return [...result, ...namedBindings.elements.map((e) => ({ local: e.name.text, module, name: e.propertyName?.text ?? e.name.text }))];
}

function importEqualsOf(node: ts.ImportEqualsDeclaration): ImportFact[] {
  const { moduleReference } = node;
  if (!ts.isExternalModuleReference(moduleReference) || !ts.isStringLiteralLike(moduleReference.expression)) return [];
  return [{ local: node.name.text, module: moduleReference.expression.text, name: '*' }];
}

/** `const x = require('m')`, `const { a, b: c } = require('m')`, `const a = require('m').a`. */
function requireOf(node: ts.VariableDeclaration): ImportFact[] {
  let value = node.initializer;
  let member: string | null = null;
  if (value !== undefined && ts.isPropertyAccessExpression(value)) {
    member = value.name.text;
    value = value.expression;
  }
  const module = value === undefined ? null : requiredModule(value);
  if (module === null) return [];
  if (ts.isIdentifier(node.name)) return [{ local: node.name.text, module, name: member ?? '*' }];
  if (!ts.isObjectBindingPattern(node.name) || member !== null) return [];
  return node.name.elements.flatMap((element) => {
    if (!ts.isIdentifier(element.name)) return [];
    const name = element.propertyName !== undefined && ts.isIdentifier(element.propertyName) ? element.propertyName.text : element.name.text;
    return [{ local: element.name.text, module, name }];
  });
}

function requiredModule(node: ts.Expression): string | null {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== 'require') return null;
  const [argument] = node.arguments;
  return argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : null;
}

function exportsOf(node: ts.ExportDeclaration): ExportFact[] {
  const module = node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : null;
  if (node.exportClause === undefined) return module === null ? [] : [{ name: '*', local: '*', module }];
  if (ts.isNamespaceExport(node.exportClause)) return [{ name: node.exportClause.name.text, local: '*', module }];
  return node.exportClause.elements.map((e) => ({ name: e.name.text, local: e.propertyName?.text ?? e.name.text, module }));
}

function defaultExportOf(node: ts.ExportAssignment): ExportFact[] {
  return ts.isIdentifier(node.expression) ? [{ name: 'default', local: node.expression.text, module: null }] : [];
}

function declaredExportsOf(node: ts.Statement): ExportFact[] {
  if (!ts.canHaveModifiers(node)) return [];
  const modifiers = ts.getModifiers(node) ?? [];
  if (!modifiers.some((m) => m.kind === ts.SyntaxKind.ExportKeyword)) return [];
  const isDefault = modifiers.some((m) => m.kind === ts.SyntaxKind.DefaultKeyword);
  if (ts.isVariableStatement(node)) {
    return node.declarationList.declarations.flatMap((d) => (ts.isIdentifier(d.name) ? [{ name: d.name.text, local: d.name.text, module: null }] : []));
  }
  const name = (node as ts.DeclarationStatement).name;
  if (name === undefined || !ts.isIdentifier(name)) return [];
  return [{ name: isDefault ? 'default' : name.text, local: name.text, module: null }];
}

/** `module.exports = X`, `module.exports = { a, b }`, `exports.a = X`, `module.exports.a = X`. */
function commonJsExportsOf(node: ts.Expression): ExportFact[] {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return [];
  const target = node.left.getText();
  if (target === 'module.exports' && ts.isIdentifier(node.right)) return [{ name: '*default', local: node.right.text, module: null }];
  if (target === 'module.exports' && ts.isObjectLiteralExpression(node.right)) {
    return node.right.properties.flatMap((p) => {
      if (ts.isShorthandPropertyAssignment(p)) return [{ name: p.name.text, local: p.name.text, module: null }];
      if (ts.isPropertyAssignment(p) && ts.isIdentifier(p.name) && ts.isIdentifier(p.initializer)) return [{ name: p.name.text, local: p.initializer.text, module: null }];
      return [];
    });
  }
  const member = /^(?:module\.)?exports\.(\w+)$/.exec(target)?.[1];
  return member !== undefined && ts.isIdentifier(node.right) ? [{ name: member, local: node.right.text, module: null }] : [];
}
