import path from 'node:path';
import { ts } from 'ts-morph';
import type { ServiceConfig, TablesConfig } from '../core/config.js';
import type { NewFile } from '../core/outcome.js';
import { tableName } from '../schema/identifiers.js';
import { readPackageFile } from '../workspace/package.js';
import type { CodeStyle } from './code-style.js';

/** Where a shipped template file goes, relative to the outbox directory of the service. */
export interface TemplateFile {
  /** Relative to `templates/`. */
  readonly template: string;
  readonly target: string;
}

/** What a template is filled in from. */
interface Surroundings {
  readonly service: ServiceConfig;
  readonly tables: TablesConfig;
  readonly style: CodeStyle;
}

const outboxFiles = ['integration-event.ts', 'store.ts', 'routes.ts'] as const;
const inboxFiles = ['inbox.ts'] as const;
const relayFiles = [
  'batch.ts', 'breaker.ts', 'create-relay.ts', 'destinations.ts', 'log.ts', 'main.ts', 'metrics.ts', 'monitoring.ts', 'options.ts',
  'publisher.ts', 'relay.module.ts', 'relay.ts', 'rows.ts',
] as const;
const publisherFiles = {
  nest: ['nest-publisher.ts'],
  amqp: ['amqp-publisher.ts', 'amqp-channel.ts'],
} as const;

/** What the relay's files need to know besides the service. */
export interface RelayPlan {
  readonly style: CodeStyle;
  /** Transports that the routes use; at least one. */
  readonly transports: readonly RelayTransport[];
  /** The application's root module: its file, relative to the project root, and the exported class. */
  readonly appModule: { readonly file: string; readonly name: string };
}

export type RelayTransport = 'nest' | 'amqp';

/** The code of the publishing side: events, store, routes. */
export function renderOutboxFiles(service: ServiceConfig, tables: TablesConfig, style: CodeStyle): NewFile[] {
  return outboxFiles.map((name) => placeTemplate({ service, tables, style }, { template: `typeorm/outbox/${name}`, target: name }));
}

/** The code of the subscribing side: the inbox guard. */
export function renderInboxFiles(service: ServiceConfig, tables: TablesConfig, style: CodeStyle): NewFile[] {
  return inboxFiles.map((name) => placeTemplate({ service, tables, style }, { template: `typeorm/outbox/${name}`, target: name }));
}

/** The relay, in the `relay` directory of the outbox. */
export function renderRelayFiles(service: ServiceConfig, tables: TablesConfig, plan: RelayPlan): NewFile[] {
  const { style } = plan;
  const [first, ...rest] = plan.transports;
  const variant = rest.length > 0 || first === undefined ? 'publishers.ts' : `publishers.${first}.ts`;
  const place = (name: string, target = name): NewFile =>
    placeTemplate({ service, tables, style }, { template: `typeorm/outbox/relay/${name}`, target: `relay/${target}` });
  const files = [
    ...relayFiles.map((name) => place(name)),
    ...plan.transports.flatMap((transport) => publisherFiles[transport].map((name) => place(name))),
    place(variant, 'publishers.ts'),
  ];
  return files.map((file) => (file.file.endsWith('/relay/main.ts') ? withAppModule(file, plan) : file)).sort((a, b) => (a.file < b.file ? -1 : 1));
}

function withAppModule({ file, content }: NewFile, { appModule, style }: RelayPlan): NewFile {
  const relative = path.posix.relative(path.posix.dirname(file), appModule.file.replace(/\.ts$/, ''));
  const specifier = `${relative.startsWith('.') ? relative : `./${relative}`}${style.importExtension}`;
  const filled = content
    .replace(/(['"])\.\.\/\.\.\/app\.module(?:\.js)?\1/, (_, quote: string) => `${quote}${specifier}${quote}`)
    .replaceAll(/\bAppModule\b/g, () => appModule.name);
  return { file, content: filled };
}

/** One shipped TypeScript file, filled in for a service. Every replaced text is in the template as it stands, so it compiles there, too. */
export function placeTemplate({ service, tables, style }: Surroundings, { template, target }: TemplateFile): NewFile {
  const filled = fillTables(readTemplate(template), tables);
  return { file: path.posix.join(service.outbox, target), content: adapt(filled, style) };
}

/** Text of a shipped template, relative to `templates/`. */
export function readTemplate(template: string): string {
  return readPackageFile(`templates/${template}`).replaceAll('\r\n', '\n');
}

/** Table names are validated and quoted, and hold no single quote: they fit into a single-quoted TypeScript string. */
function fillTables(text: string, tables: TablesConfig): string {
  return text
    .replaceAll(`'"outbox"'`, () => `'${tableName(tables, 'outbox')}'`)
    .replaceAll(`'"inbox"'`, () => `'${tableName(tables, 'inbox')}'`);
}

/** Takes over import extension and quotes of the code around. */
export function adapt(text: string, style: CodeStyle): string {
  const imports = style.importExtension === '.js' ? text : text.replaceAll(/(from '\.{1,2}\/[^'\n]+)\.js'/g, "$1'");
  return style.quotes === 'single' ? imports : withDoubleQuotes(imports);
}

/** Single-quoted strings become double-quoted, except where that would need an escape (what Prettier does, too). */
function withDoubleQuotes(text: string): string {
  const source = ts.createSourceFile('template.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const starts: { readonly start: number; readonly end: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && text[node.getStart(source)] === "'") starts.push({ start: node.getStart(source), end: node.getEnd() });
    ts.forEachChild(node, visit);
  };
  visit(source);
  let result = text;
  for (const { start, end } of starts.reverse()) {
    const inner = result.slice(start + 1, end - 1);
    if (!inner.includes('"')) result = `${result.slice(0, start)}"${inner.replaceAll("\\'", "'")}"${result.slice(end)}`;
  }
  return result;
}
