import { ts } from 'ts-morph';
import { decoratorsOf, lineOf, type FunctionNode } from './ast.js';
import type { CodemodContext } from './codemod.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';

/** A function of a file, with the name it has in messages. */
export interface NamedFunction {
  readonly file: string;
  readonly name: string;
  readonly fn: FunctionNode;
}

/** `@Transactional()` around a function, its own or that of its class. */
export interface AmbientDecorator {
  readonly decorator: ts.Decorator;
  readonly library: 'typeorm-transactional' | '@nestjs-cls/transactional';
  readonly isOfClass: boolean;
}

/** The decorator that decides of an ambient transaction around the function. */
export function ambientDecorator({ file, fn }: Omit<NamedFunction, 'name'>, context: CodemodContext): AmbientDecorator | null {
  const own = decoratorsOf(fn);
  const around = ts.isClassLike(fn.parent) ? decoratorsOf(fn.parent) : [];
  const decorator = [...own, ...around].find((each) => calleeOf(each).getText() === 'Transactional');
  const module = decorator === undefined ? null : projectOf(context.workspace).moduleOf(file, 'Transactional');
  const library = module === '@nestjs-cls/transactional' ? module : module?.startsWith('typeorm-transactional') === true ? 'typeorm-transactional' : null;
  return decorator === undefined || library === null ? null : { decorator, library, isOfClass: !own.includes(decorator) };
}

function calleeOf({ expression }: ts.Decorator): ts.Expression {
  return ts.isCallExpression(expression) ? expression.expression : expression;
}

/** Guards: the decorator surely opens a transaction of the default connection, or joins one that is there. */
export function guardPlainOptions({ decorator }: AmbientDecorator, { file, name }: NamedFunction): void {
  const at = `${file}:${lineOf(decorator)}`;
  const [options, ...more] = ts.isCallExpression(decorator.expression) ? decorator.expression.arguments : [];
  if (options === undefined) return;
  if (more.length > 0 || !ts.isObjectLiteralExpression(options)) refuse('transaction-shape', `'${decorator.getText()}' of '${name}' (${at}) has options that can not be read. Write them out in the decorator: '@Transactional({ … })'.`);
  for (const property of options.properties) {
    const key = property.name?.getText() ?? '';
    if (key === 'isolationLevel') continue;
    if (key === 'connectionName') refuse('several-data-sources', `'@Transactional()' of '${name}' (${at}) names a connection: the service has several data sources. Rewrite this handler by hand.`);
    if (key === 'propagation' && ts.isPropertyAssignment(property) && /^Propagation\.(?:REQUIRED|REQUIRES_NEW)$/.test(property.initializer.getText())) continue;
    refuse('transaction-shape', `'${property.getText()}' of '${name}' (${at}) leaves open whether there is a transaction. Let it be opened surely, by the default propagation, or rewrite this handler by hand.`);
  }
}

/** Guards: no decorator decides of an ambient transaction around a function that opens, or joins, another. */
export function guardNotAmbient(code: NamedFunction, context: CodemodContext): void {
  const ambient = ambientDecorator(code, context);
  if (ambient === null) return;
  refuse('transaction-shape', `'${ambient.decorator.getText()}' of '${code.name}' (${code.file}:${lineOf(ambient.decorator)}) says when there is a transaction around it, and its write is in none of it, or in another. Rewrite this handler by hand.`);
}
