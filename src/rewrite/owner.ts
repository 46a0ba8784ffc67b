import { ts } from 'ts-morph';
import { decoratorNames, enclosingClass, lineOf, unwrap, walk, type FunctionNode } from './ast.js';
import { propertyOf } from './bind.js';
import type { LocatedCall } from './calls.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { isTestFile, projectOf, type Declared } from './project.js';
import { refuse } from './refusal.js';
import { indentAt } from './style.js';

/** What opens the transaction. */
export interface Owner {
  /** Expression whose `transaction` is called. */
  readonly expression: string;
  /** What the user has to know, e.g. tests that construct the class by hand. */
  readonly followUps: readonly string[];
}

/** Decorators of Nest on classes that its container makes. */
const injectableDecorators = new Set(['Injectable', 'Controller', 'CommandHandler', 'QueryHandler', 'EventsHandler', 'Resolver', 'Processor', 'WebSocketGateway', 'Command']);

/** Finds what opens the transaction: the repository or manager of a write in the handler, a data source of its class, or one that is injected. */
export function findOwner(edits: EditSet, file: string, fn: FunctionNode, direct: readonly LocatedCall[], context: CodemodContext): Owner {
  guardOneDataSource(context);
  for (const { call, node } of direct) {
    const expression = ownerOf(call.receiver?.type ?? '', node);
    if (expression !== null) return { expression, followUps: [] };
  }
  const owner = enclosingClass(fn);
  if (owner === null || !ts.isMethodDeclaration(fn) || hasModifier(fn, ts.SyntaxKind.StaticKeyword)) {
    refuse('no-data-source', `No data source is at hand in ${file}:${lineOf(fn)}: it writes through other functions, and is no method of a class that could be given one.`);
  }
  const present = dataSourceField(owner, file, context);
  if (present !== null) return { expression: present, followUps: [] };
  return injectDataSource(edits, file, owner, context);
}

function ownerOf(type: string, node: ts.CallExpression): string | null {
  const receiver = ts.isPropertyAccessExpression(node.expression) ? unwrap(node.expression.expression) : null;
  if (receiver === null || ts.isCallExpression(receiver)) return null;
  if (type === 'Repository' || type === 'TreeRepository') return `${receiver.getText()}.manager`;
  if (type === 'EntityManager' || type === 'DataSource' || type === 'Connection') return receiver.getText();
  return null;
}

function dataSourceField(owner: ts.ClassDeclaration, file: string, context: CodemodContext): string | null {
  const project = projectOf(context.workspace);
  const names = owner.members.flatMap((member): readonly (ts.ParameterDeclaration | ts.PropertyDeclaration)[] => {
    if (ts.isPropertyDeclaration(member)) return [member];
    return ts.isConstructorDeclaration(member) ? member.parameters.filter((parameter) => ts.isParameterPropertyDeclaration(parameter, member)) : [];
  });
  for (const wanted of ['DataSource', 'EntityManager']) {
    const field = names.find((candidate) => candidate.type?.getText() === wanted && project.moduleOf(file, wanted) === 'typeorm' && ts.isIdentifier(candidate.name));
    if (field !== undefined) return `this.${field.name.getText()}`;
  }
  return null;
}

function injectDataSource(edits: EditSet, file: string, owner: ts.ClassDeclaration, context: CodemodContext): Owner {
  guardDecorated({ file, owner });
  guardInjectable(context);
  return injectMember(edits, { file, owner }, { name: 'dataSource', type: 'DataSource', imports: [{ name: 'DataSource', module: 'typeorm' }], what: 'data source of TypeORM' }, context);
}

/** What a class is given through its constructor. */
export interface InjectedMember {
  readonly name: string;
  readonly type: string;
  readonly imports: readonly { readonly name: string; readonly module: string }[];
  /** For messages. */
  readonly what: string;
}

interface Injected {
  readonly file: string;
  readonly owner: ts.ClassDeclaration;
}

/** Adds a constructor parameter that Nest injects. Refuses where the class is made in another way. */
export function injectMember(edits: EditSet, at: Injected, member: InjectedMember, context: CodemodContext): Owner {
  const { file, owner } = at;
  const name = owner.name?.text ?? 'the class';
  guardDecorated(at);
  if (propertyOf(owner, member.name) !== null || owner.members.some((other) => other.name?.getText() === member.name)) refuse('no-data-source', `'${name}' (${file}:${lineOf(owner)}) has a member '${member.name}' that is no ${member.what}.`);
  const followUps = guardConstruction({ file, node: owner }, name, member, context);
  const constructor = owner.members.find((other) => ts.isConstructorDeclaration(other) && other.body !== undefined);
  const injected = `private readonly ${member.name}: ${member.type}`;
  if (constructor !== undefined && ts.isConstructorDeclaration(constructor)) addToConstructor(edits, file, constructor, injected);
  else addConstructor(edits, at, injected);
  for (const { name: needed, module } of member.imports) edits.need(file, needed, module);
  return { expression: `this.${member.name}`, followUps };
}

function guardDecorated({ file, owner }: Injected): void {
  if (decoratorNames(owner).some((decorator) => injectableDecorators.has(decorator))) return;
  refuse('not-injectable', `'${owner.name?.text ?? 'the class'}' (${file}:${lineOf(owner)}) has no decorator by which Nest would inject a data source. Give it one through its constructor.`);
}

function addToConstructor(edits: EditSet, file: string, constructor: ts.ConstructorDeclaration, injected: string): void {
  const { text, style } = edits.open(file);
  const { parameters } = constructor;
  if (parameters.some((parameter) => parameter.dotDotDotToken !== undefined || parameter.questionToken !== undefined || parameter.initializer !== undefined)) {
    refuse('not-injectable', `The constructor (${file}:${lineOf(constructor)}) has optional parameters, so no injected one can follow them.`);
  }
  const last = parameters[parameters.length - 1];
  if (last === undefined) {
    edits.insert(file, parameters.pos, injected);
    return;
  }
  const ownLine = /\n[ \t]*$/.test(text.slice(parameters.pos, last.getStart()));
  edits.insert(file, last.getEnd(), ownLine ? `,${style.eol}${indentAt(text, last.getStart())}${injected}` : `, ${injected}`);
}

function addConstructor(edits: EditSet, { file, owner }: Injected, injected: string): void {
  if (owner.heritageClauses?.some((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword) === true) {
    refuse('inherited-constructor', `'${owner.name?.text ?? ''}' (${file}:${lineOf(owner)}) extends a class and has no constructor of its own. Give it one that takes a data source.`);
  }
  const { text, style } = edits.open(file);
  const firstMethod = owner.members.find((member) => !ts.isPropertyDeclaration(member));
  const indent = firstMethod === undefined ? style.indent : indentAt(text, firstMethod.getStart());
  const declaration = `constructor(${injected}) {}`;
  if (firstMethod !== undefined) edits.insert(file, ts.getLeadingCommentRanges(text, firstMethod.pos)?.[0]?.pos ?? firstMethod.getStart(), `${declaration}${style.eol}${style.eol}${indent}`);
}

/** Nest has a `DataSource` to inject where TypeOrmModule is set up, once and under the default name. */
function guardInjectable(context: CodemodContext): void {
  const inService = setups(context, context.service.root);
  const found = inService.length > 0 ? inService : setups(context, '.');
  if (found.length === 0) refuse('no-data-source', `No 'TypeOrmModule.forRoot' is in '${context.service.root}', so Nest has no DataSource to inject. Inject the one that the service has into the class, and run this again.`);
  const named = found.find((call) => /\bname\s*:/.test(call.arguments.map((argument) => argument.getText()).join('')));
  if (found.length > 1 || named !== undefined) refuse('several-data-sources', `'${context.service.root}' sets up several data sources, or a named one. Inject the right one into the class, and run this again.`);
}

function setups(context: CodemodContext, root: string): readonly ts.CallExpression[] {
  const project = projectOf(context.workspace);
  const found: ts.CallExpression[] = [];
  for (const file of project.filesMentioning('TypeOrmModule.forRoot', root)) {
    const source = isTestFile(file) ? null : project.source(file);
    if (source !== null) walk(source, (node) => {
      if (ts.isCallExpression(node) && /^TypeOrmModule\.forRoot(?:Async)?$/.test(node.expression.getText())) found.push(node);
    });
  }
  return found;
}

/** Guards: a transaction of the default connection holds nothing for a repository of another one. */
function guardOneDataSource(context: CodemodContext): void {
  const project = projectOf(context.workspace);
  for (const [decorator, position] of [['InjectRepository', 1], ['InjectDataSource', 0], ['InjectEntityManager', 0]] as const) {
    for (const file of project.filesMentioning(`@${decorator}(`, context.service.root)) {
      const source = isTestFile(file) ? null : project.source(file);
      if (source === null) continue;
      walk(source, (node) => {
        if (!ts.isDecorator(node) || !ts.isCallExpression(node.expression) || node.expression.expression.getText() !== decorator) return;
        if (node.expression.arguments.length > position) refuse('several-data-sources', `'${node.getText()}' (${file}:${lineOf(node)}) names a connection: the service has several data sources, and one transaction does not span them. Rewrite this handler by hand.`);
      });
    }
  }
}

/** Guards: nobody else constructs the class. Tests that do are named. */
function guardConstruction(owner: Declared<ts.ClassDeclaration>, name: string, member: InjectedMember, context: CodemodContext): readonly string[] {
  const project = projectOf(context.workspace);
  const followUps: string[] = [];
  for (const file of project.filesMentioning(name)) {
    const source = project.source(file);
    // The same name may be another class, in another service.
    if (source === null || project.findType(file, name)?.file !== owner.file) continue;
    walk(source, (node) => {
      if (ts.isNewExpression(node) && node.expression.getText() === name) {
        if (!isTestFile(file)) refuse('constructed-by-hand', `'${name}' is constructed in ${file}:${lineOf(node)}, which would have to pass a data source.`);
        followUps.push(`${file}:${lineOf(node)} constructs '${name}': pass a ${/^\w+/.exec(member.type)?.[0] ?? ''} as the last argument.`);
      }
      if (ts.isClassDeclaration(node) && node.name?.text !== name && node.heritageClauses?.some((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword && clause.types[0]?.expression.getText() === name) === true) {
        refuse('inherited-constructor', `'${node.name?.text ?? ''}' (${file}:${lineOf(node)}) extends '${name}' and would have to pass a data source to its constructor.`);
      }
    });
  }
  return followUps;
}

function hasModifier(node: ts.MethodDeclaration, kind: ts.SyntaxKind): boolean {
  return (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}
