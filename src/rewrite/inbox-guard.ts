import { ts } from 'ts-morph';
import type { CodemodContext } from './codemod.js';
import { columns } from './emit.js';
import { specifierOf } from './imports.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';
import { freeName, moduleNames, takenNames } from './scope.js';
import { quoted } from './style.js';
import type { Delivery, SubscriberCode } from './subscriber.js';

/** What the guard of a subscriber is made of. */
export interface GuardText {
  readonly indent: string;
  /** Expression of the manager whose transaction does the work. */
  readonly manager: string;
  /** Statements that a duplicate runs instead of the work, without indentation. */
  readonly exit: readonly string[];
}

/** `if (!(await isFirstDelivery(manager, event, 'payments.PaymentsController.onOrderPlaced'))) return;`, each line indented. */
export function guardText(code: SubscriberCode, delivery: Delivery, { indent, manager, exit }: GuardText): string {
  const { style } = code.edits.open(code.file);
  const args = [manager, delivery.message, quoted(style, code.consumer)];
  const call = `await isFirstDelivery(${args.join(', ')})`;
  const line = `${indent}if (!(${call})) `;
  const leave = block(exit, indent, style);
  if (columns(line + (leave.split(style.eol)[0] ?? '')) <= style.width) return line + leave;
  const name = freeName(['isFirst', 'isNew'], takenNames(code.fn));
  const declaration = `${indent}const ${name} = ${call}${style.semicolon}`;
  const broken = [`${indent}const ${name} = await isFirstDelivery(`, ...args.map((argument, index) => `${indent}${style.indent}${argument}${index < 2 ? ',' : style.trailingComma}`), `${indent})${style.semicolon}`];
  return `${columns(declaration) <= style.width ? declaration : broken.join(style.eol)}${style.eol}${indent}if (!${name}) ${leave}`;
}

function block(exit: readonly string[], indent: string, style: { readonly eol: string; readonly indent: string }): string {
  const [only] = exit;
  if (only !== undefined && exit.length === 1) return only;
  return `{${style.eol}${exit.map((statement) => `${indent}${style.indent}${statement}${style.eol}`).join('')}${indent}}`;
}

/** Makes `isFirstDelivery` of the service importable in the subscriber's file. */
export function importInbox(code: SubscriberCode, context: CodemodContext): void {
  const { edits, file } = code;
  const { source } = edits.open(file);
  const specifier = specifierOf(projectOf(context.workspace), file, `${context.service.outbox}/inbox.ts`, source);
  const imported = source.statements.some((statement) => ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier) && statement.moduleSpecifier.text === specifier);
  if (!imported && moduleNames(source).has('isFirstDelivery')) refuse('subscriber-shape', `'${file}' has an 'isFirstDelivery' of its own. Rename it.`);
  edits.need(file, 'isFirstDelivery', specifier);
}
