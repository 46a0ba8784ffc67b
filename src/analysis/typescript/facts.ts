import { ts } from 'ts-morph';
import type { ClassFact, DecoratorFact, FieldFact, FileFacts, FunctionFact, InterfaceFact, ParameterFact, Step } from '../facts.js';
import { type Declarations, propertyName, readExpression } from './expressions.js';
import { EXPORTED, readModule } from './modules.js';
import { readBinding, readStatements } from './statements.js';
import { dottedName, membersOf, typeFact } from './types.js';

/** Facts of one parsed file. */
export function readFacts(file: string, source: ts.SourceFile): FileFacts {
  const reader = new FileReader(source);
  const top = readStatements(source.statements, reader);
  return {
    file, ...readModule(source), top,
    functions: reader.functions, classes: reader.classes, declarations: reader.declarations,
    interfaces: source.statements.filter(ts.isInterfaceDeclaration).map((node) => readInterface(node, reader)),
    aliases: source.statements.filter(ts.isTypeAliasDeclaration).flatMap((node) => {
      const type = typeFact(node.type);
      return type === null ? [] : [{ name: node.name.text, type }];
    }),
    enums: source.statements.filter(ts.isEnumDeclaration).map(readEnum),
    lineStarts: source.getLineStarts(),
  };
}

/** Collects functions and classes as the expression reader meets them; the enclosing function and class are on a stack. */
class FileReader implements Declarations {
  readonly functions: FunctionFact[] = [];
  readonly classes: ClassFact[] = [];
  readonly declarations: Record<string, { kind: 'function' | 'class'; id: number }> = Object.create(null) as Record<string, never>;
  private readonly enclosing: number[] = [];
  private readonly enclosingClass: number[] = [];

  constructor(private readonly source: ts.SourceFile) {}

  lineOf(node: ts.Node): number {
    return this.source.getLineAndCharacterOfPosition(this.startOf(node)).line + 1;
  }

  startOf(node: ts.Node): number {
    return node.getStart(this.source); // without the file, it climbs the whole tree to find it
  }

  functionOf(node: ts.FunctionLikeDeclaration): number {
    const id = this.functions.length;
    const parent = this.enclosing.at(-1) ?? null;
    const field = fieldOfClass(node);
    const isMethod = field !== null || (ts.isClassElement(node) && !ts.isArrowFunction(node));
    this.functions.push(null as unknown as FunctionFact); // the place is taken; children come after
    if (ts.isFunctionDeclaration(node) && node.name !== undefined) this.declarations[node.name.text] ??= { kind: 'function', id };
    else if (isUnnamedDefault(node)) this.declarations[EXPORTED] ??= { kind: 'function', id };
    this.enclosing.push(id);
    const fact: FunctionFact = {
      id, parent, line: this.lineOf(nameNode(node)), start: this.startBehindDecorators(node), end: node.end,
      name: functionName(node), classId: isMethod ? (this.enclosingClass.at(-1) ?? null) : null,
      parameters: node.parameters.map((parameter) => this.parameterOf(parameter)),
      body: this.bodyOf(node),
      isAsync: hasModifier(node, ts.SyntaxKind.AsyncKeyword), isStatic: hasModifier(field ?? node, ts.SyntaxKind.StaticKeyword),
      isAccessor: ts.isAccessor(node), isArrow: ts.isArrowFunction(node), hasBody: node.body !== undefined,
      returns: typeFact(node.type), decorators: this.decoratorsOf(node),
    };
    this.enclosing.pop();
    this.functions[id] = fact;
    return id;
  }

  private startBehindDecorators(node: ts.FunctionLikeDeclaration): number {
    const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
    const last = decorators.at(-1);
    if (last === undefined) return this.startOf(node);
    return this.startOf(node.modifiers?.find((modifier) => !ts.isDecorator(modifier) && modifier.pos >= last.end) ?? nameNode(node));
  }

  private bodyOf(node: ts.FunctionLikeDeclaration): Step[] {
    const body = node.body;
    if (body === undefined) return [];
    if (ts.isBlock(body)) return readStatements(body.statements, this);
    return [{ kind: 'return', value: readExpression(body, this) }];
  }

  classOf(node: ts.ClassLikeDeclaration): number {
    const id = this.classes.length;
    this.classes.push(null as unknown as ClassFact);
    if (node.name !== undefined) this.declarations[node.name.text] ??= { kind: 'class', id };
    else if (isUnnamedDefault(node)) this.declarations[EXPORTED] ??= { kind: 'class', id };
    this.enclosingClass.push(id);
    const methods: { name: string; id: number }[] = [];
    const fields: FieldFact[] = [];
    let constructorId: number | null = null;
    for (const member of node.members) {
      const name = member.name === undefined ? null : propertyName(member.name);
      if (ts.isConstructorDeclaration(member)) {
        if (member.body !== undefined) constructorId = this.functionOf(member);
      } else if (ts.isMethodDeclaration(member) || ts.isAccessor(member)) {
        const method = this.functionOf(member);
        if (name !== null && member.body !== undefined) methods.push({ name, id: method });
      } else if (ts.isPropertyDeclaration(member) && name !== null) {
        fields.push(this.fieldOf(member, name));
      }
    }
    const heritage = (token: ts.SyntaxKind): readonly ts.ExpressionWithTypeArguments[] => node.heritageClauses?.find((clause) => clause.token === token)?.types ?? [];
    const base = heritage(ts.SyntaxKind.ExtendsKeyword)[0];
    this.classes[id] = {
      id, name: node.name?.text ?? null, line: this.lineOf(node.name ?? node), start: this.startOf(node), end: node.end,
      isAbstract: hasModifier(node, ts.SyntaxKind.AbstractKeyword), typeParameters: (node.typeParameters ?? []).map((p) => p.name.text),
      base: base === undefined ? null : readExpression(base.expression, this),
      baseArgs: (base?.typeArguments ?? []).flatMap((type) => typeFact(type) ?? []),
      interfaces: heritage(ts.SyntaxKind.ImplementsKeyword).flatMap((type) => typeFact(type) ?? []),
      decorators: this.decoratorsOf(node), fields, methods, constructorId,
    };
    this.enclosingClass.pop();
    return id;
  }

  private fieldOf(node: ts.PropertyDeclaration, name: string): FieldFact {
    return {
      name, type: typeFact(node.type), value: node.initializer === undefined ? null : readExpression(node.initializer, this),
      decorators: this.decoratorsOf(node), isStatic: hasModifier(node, ts.SyntaxKind.StaticKeyword),
    };
  }

  private parameterOf(node: ts.ParameterDeclaration): ParameterFact {
    return {
      binding: readBinding(node.name), type: typeFact(node.type), rest: node.dotDotDotToken !== undefined,
      defaultValue: node.initializer === undefined ? null : readExpression(node.initializer, this),
      decorators: this.decoratorsOf(node), isField: ts.isParameterPropertyDeclaration(node, node.parent),
    };
  }

  private decoratorsOf(node: ts.Node): DecoratorFact[] {
    const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
    return decorators.flatMap((decorator) => {
      const { expression } = decorator;
      const call = ts.isCallExpression(expression) ? expression : null;
      const name = dottedName(call?.expression ?? expression);
      if (name === null) return [];
      return [{
        name, args: (call?.arguments ?? []).map((arg) => readExpression(arg, this)),
        start: this.startOf(decorator), end: decorator.end, line: this.lineOf(expression),
      }];
    });
  }
}

/** `place = async (order: Order) => { … };` in a class: the property. */
function fieldOfClass(node: ts.FunctionLikeDeclaration): ts.PropertyDeclaration | null {
  const { parent } = node;
  return ts.isPropertyDeclaration(parent) && parent.initializer === node ? parent : null;
}

/** `export default class { … }`, `export default function () { … }`. */
function isUnnamedDefault(node: ts.Node): boolean {
  return (ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node)) && hasModifier(node, ts.SyntaxKind.DefaultKeyword);
}

function nameNode(node: ts.FunctionLikeDeclaration): ts.Node {
  return node.name ?? node;
}

/** Own name, or that of the variable or property it is assigned to. */
function functionName(node: ts.FunctionLikeDeclaration): string | null {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name !== undefined) return propertyName(node.name);
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return parent.name.text;
  if ((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) && parent.initializer === node) return propertyName(parent.name);
  if (ts.isBinaryExpression(parent) && parent.right === node && ts.isPropertyAccessExpression(parent.left)) return parent.left.name.text;
  return null;
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}

function readInterface(node: ts.InterfaceDeclaration, reader: FileReader): InterfaceFact {
  return {
    name: node.name.text, line: reader.lineOf(node.name), members: membersOf(node.members),
    bases: (node.heritageClauses ?? []).flatMap((clause) => clause.types.flatMap((type) => typeFact(type) ?? [])),
  };
}

function readEnum(node: ts.EnumDeclaration): FileFacts['enums'][number] {
  return {
    name: node.name.text,
    members: node.members.flatMap((member) => {
      const name = propertyName(member.name);
      return name === null ? [] : [{ name, value: member.initializer !== undefined && ts.isStringLiteralLike(member.initializer) ? member.initializer.text : null }];
    }),
  };
}
