import type { Figures } from '../../schema/operations/figures.js';
import { cutOverOf, type ProjectFacts, type ServiceFacts } from '../../plan/facts.js';
import { nextGates } from '../../plan/gates.js';
import type { HandlerState } from '../../plan/handlers.js';
import { nextSteps, type Progress } from '../../plan/next.js';
import { pad, printable, type TextStyle } from '../../report/text.js';
import { version } from '../../workspace/package.js';
import { commandLine } from '../../wizard/question.js';
import { durationText } from '../ops/lag.js';

/** The status for people. */
export function statusText(progress: Progress, style: TextStyle): string {
  const { facts } = progress;
  const services = facts.services.filter((service) => service.handlers.length > 0 || service.subscribers.length > 0);
  const unknown = facts.figures.get('');
  const [next] = nextSteps(progress);
  return [
    ...services.flatMap((service) => [style.bold(printable(service.config.name)), ...serviceLines(service, facts), '']),
    ...(unknown === undefined ? [] : [style.bold('database'), ...figureLines(unknown), '']),
    ...handlerLines(facts, style),
    counts(facts.handlers),
    next === undefined ? 'Nothing is left to do here.' : `Next: ${commandLine(next.targets[0])}`,
  ].join('\n');
}

function serviceLines(service: ServiceFacts, facts: ProjectFacts): readonly string[] {
  const { name } = service.config;
  const figures = facts.figures.get(name);
  const cutOver = cutOverOf(facts, name);
  return [
    ...(service.handlers.length === 0 ? [] : [
      line('outbox', table(service.outbox)),
      line('relay', service.hasRelay ? `${service.config.outbox}/relay` : 'no code yet'),
      line('cut-over', cutOver === null ? 'not done' : `${String(cutOver.details['instant'] ?? cutOver.recordedAt)}, by ${printable(cutOver.by)}`),
    ]),
    ...(service.subscribers.length === 0 ? [] : [line('inbox', `${table(service.inbox)}; ${service.subscribers.filter(({ inbox }) => inbox).length} of ${service.subscribers.length} subscribers go through it`)]),
    ...(figures === undefined ? [] : figureLines(figures)),
  ];
}

function table({ migration, hasCode }: ServiceFacts['outbox']): string {
  if (migration === null) return hasCode ? 'code, and no migration' : 'no table yet';
  return hasCode ? printable(migration) : `${printable(migration)}, and no code`;
}

function figureLines({ outbox, inbox }: Figures): readonly string[] {
  const waiting = outbox === null || outbox.oldestPendingSeconds === null ? '' : `, the oldest for ${durationText(outbox.oldestPendingSeconds)}`;
  return [
    line('rows', outbox === null ? 'no outbox table in the database' : `${outbox.pending.count} pending${waiting}, ${outbox.failed.count} failed, ${outbox.sent.count} sent (${outbox.cutOver.count} by the cut-over)`),
    ...(inbox?.consumers ?? []).map(({ consumer, messages, duplicates }) => line('consumer', `${printable(consumer)}: ${messages} messages, ${duplicates} copies turned away`)),
  ];
}

function line(label: string, value: string): string {
  return `  ${label.padEnd(10)}${value}`;
}

function handlerLines({ handlers, ...facts }: ProjectFacts, style: TextStyle): readonly string[] {
  if (handlers.length === 0) return [];
  const width = Math.max(...handlers.map(({ label }) => label.length));
  const lines = handlers.map((handler) => {
    const open = nextGates(handler, { handlers, ...facts }).filter(({ reasons }) => reasons.length > 0);
    const gate = open.length === 0 ? '' : style.dim(`  gate: ${open.map(({ title }) => title).join(', ')}`);
    return `  ${pad(handler.stage, 13)} ${pad(printable(handler.label), width)}  ${printable(handler.events.join(', '))}${gate}`;
  });
  return [style.bold('handlers'), ...lines, ''];
}

function counts(handlers: readonly HandlerState[]): string {
  const at = (stage: HandlerState['stage']): number => handlers.filter((handler) => handler.stage === stage).length;
  return `${at('legacy')} legacy, ${at('dual-publish')} dual-publish, ${at('outbox-only')} outbox-only.`;
}

/** The status as JSON: services, handlers with the gates before their next stage, and the commands that can be run now. */
export function toJsonStatus(progress: Progress): object {
  const { facts } = progress;
  return {
    schemaVersion: 1,
    tool: { name: 'outboxify', version: version() },
    services: facts.services.map(({ config, outbox, inbox, hasRelay }) => ({
      name: config.name, root: config.root, outbox, inbox, relay: hasRelay,
      cutOver: cutOverOf(facts, config.name)?.details['instant'] ?? null,
      figures: facts.figures.get(config.name) ?? null,
    })),
    ...(facts.figures.has('') ? { database: facts.figures.get('') } : {}),
    handlers: facts.handlers.map((handler) => ({
      file: handler.file, line: handler.line, name: handler.name, entry: handler.entry, service: handler.service, stage: handler.stage, kind: handler.kind, events: handler.events,
      gates: nextGates(handler, facts).map(({ id, reasons }) => ({ id, met: reasons.length === 0, reasons })),
    })),
    next: nextSteps(progress).map(({ id, title, targets }) => ({ step: id, title, commands: targets.map(commandLine) })),
  };
}
