import { ts } from 'ts-morph';
import { unwrap } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { Message } from './message.js';
import { projectOf } from './project.js';

/** An aggregate whose id the message carries. */
export interface CarriedAggregate {
  readonly type: string;
  /** Field of the message. */
  readonly field: string;
}

/**
 * The aggregate whose id is plainly in the message: `orderId` of 'order.cancelled', or of a written `Order`. Null when none is:
 * a field that is only alike, optional or computed is not taken for one.
 */
export function carriedAggregate(file: string, message: Message, told: { readonly eventType: string; readonly targets: readonly string[] }, context: CodemodContext): CarriedAggregate | null {
  const fields = plainFields(file, message, context);
  const wished = context.aggregate.type;
  const names = wished === null ? [...nouns(told.eventType).map((noun) => entityCalled(noun, told.targets)), ...[...told.targets].reverse()] : [wished];
  for (const type of names) {
    const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}Id`;
    if (fields.has(field)) return { type, field };
  }
  return null;
}

/** What an event may be about, by its name: `order-item.added` → `OrderItem`; `orders_placed` → `Orders`, `Order`. */
function nouns(eventType: string): readonly string[] {
  const segments = eventType.split(/[.:/]/).filter((segment) => segment !== '').map(words);
  const about = segments.length > 1 ? segments.slice(0, -1).reverse() : prefixes(segments[0] ?? []);
  return about.flatMap((each) => {
    const noun = each.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    return noun.endsWith('s') && !noun.endsWith('ss') ? [noun, noun.slice(0, -1)] : [noun];
  });
}

function words(text: string): readonly string[] {
  return (text.match(/[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+/g) ?? []).map((word) => word.toLowerCase());
}

/** All words but the last, all but the last two … */
function prefixes(all: readonly string[]): readonly (readonly string[])[] {
  return all.slice(1).map((_, index) => all.slice(0, all.length - 1 - index));
}

function entityCalled(noun: string, targets: readonly string[]): string {
  return targets.find((target) => target.toLowerCase() === noun.toLowerCase()) ?? noun;
}

/** Fields of the message that hold a variable, a property of one, or such a value as text. */
function plainFields(file: string, { shape }: Message, context: CodemodContext): ReadonlySet<string> {
  const fields = new Set<string>();
  if (ts.isObjectLiteralExpression(shape)) {
    for (const property of shape.properties) {
      if (ts.isShorthandPropertyAssignment(property)) fields.add(property.name.text);
      if (ts.isPropertyAssignment(property) && ts.isIdentifier(property.name) && isPlain(property.initializer)) fields.add(property.name.text);
    }
    return fields;
  }
  const declared = projectOf(context.workspace).findType(file, shape.expression.getText());
  const constructor = declared !== null && ts.isClassDeclaration(declared.node) ? declared.node.members.find(ts.isConstructorDeclaration) : undefined;
  for (const [index, parameter] of (constructor?.parameters ?? []).entries()) {
    const argument = shape.arguments?.[index];
    const kinds = (ts.getModifiers(parameter) ?? []).map(({ kind }) => kind);
    const isPublic = kinds.length > 0 && !kinds.includes(ts.SyntaxKind.PrivateKeyword) && !kinds.includes(ts.SyntaxKind.ProtectedKeyword);
    if (isPublic && parameter.questionToken === undefined && argument !== undefined && isPlain(argument)) fields.add(parameter.name.getText());
  }
  return fields;
}

function isPlain(expression: ts.Expression): boolean {
  const value = unwrap(expression);
  if (ts.isIdentifier(value)) return value.text !== 'undefined';
  if (ts.isPropertyAccessExpression(value)) return value.questionDotToken === undefined && (value.expression.kind === ts.SyntaxKind.ThisKeyword || isPlain(value.expression));
  if (!ts.isCallExpression(value)) return false;
  const [argument] = value.arguments;
  if (ts.isPropertyAccessExpression(value.expression)) return value.expression.name.text === 'toString' && argument === undefined && isPlain(value.expression.expression);
  return value.expression.getText() === 'String' && argument !== undefined && isPlain(argument);
}
