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
  const local = ts.isIdentifier(node.expression) ? node.expression.text : EXPORTED;
  return [{ name: node.isExportEquals === true ? '*default' : 'default', local, module: null }];
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
  if (name === undefined && isDefault) return [{ name: 'default', local: EXPORTED, module: null }];
  if (name === undefined || !ts.isIdentifier(name)) return [];
  return [{ name: isDefault ? 'default' : name.text, local: name.text, module: null }];
}

/** Local name of what a module exports as a whole and gives no name: `export default new Bus()`. */
export const EXPORTED = 'exports';

/** `exports.a` of `exports.a = …` and `module.exports.a = …`; `exports` of `module.exports = …`; null for any other target. */
export function exportTarget(target: ts.Expression): string | null {
  if (!ts.isPropertyAccessExpression(target)) return null;
  const object = target.expression;
  if (ts.isIdentifier(object)) {
    if (object.text === 'exports') return `${EXPORTED}.${target.name.text}`;
    return object.text === 'module' && target.name.text === 'exports' ? EXPORTED : null;
  }
  return exportTarget(object) === EXPORTED ? `${EXPORTED}.${target.name.text}` : null;
}

/** `module.exports = X`, `module.exports = { a, b: c, d: … }`, `exports.a = X`, `module.exports.a = X`. */
function commonJsExportsOf(node: ts.Expression): ExportFact[] {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return [];
  const target = exportTarget(node.left);
  if (target === null) return [];
  const local = ts.isIdentifier(node.right) ? node.right.text : target;
  if (target !== EXPORTED) return [{ name: target.slice(EXPORTED.length + 1), local, module: null }];
  if (!ts.isObjectLiteralExpression(node.right)) return [{ name: '*default', local, module: null }];
  return node.right.properties.flatMap((p) => {
    if (ts.isShorthandPropertyAssignment(p)) return [{ name: p.name.text, local: p.name.text, module: null }];
    if (p.name === undefined || !ts.isIdentifier(p.name)) return [];
    const name = p.name.text;
    return [{ name, local: ts.isPropertyAssignment(p) && ts.isIdentifier(p.initializer) ? p.initializer.text : `${EXPORTED}.${name}`, module: null }];
  });
}
