import type { Finding, SafePublish } from '../core/finding.js';
import { doubtfulPublishes } from './doubts.js';
import type { CallNode, PublishEffect } from './effects.js';
import { handlerAt, type EntryWalk } from './findings.js';
import { spanKey } from './machine.js';
import type { Occurrence } from './path-state.js';

/** Every publish that was seen and is no finding, with the reason; stores of the outbox among them. */
export function safeOf(entries: readonly EntryWalk[], findings: readonly Finding[], isRelay: (file: string) => boolean): SafePublish[] {
  const doubtful = doubtfulPublishes(entries);
  const reported = new Set(findings.map((finding) => spanKey(finding.publish.span)));
  const joined = new Set(findings.map((finding) => [spanKey(finding.publish.path[0]?.span ?? finding.publish.span)]).flat());
  const safe = new Map<string, SafePublish>();
  for (const entry of entries) {
    const paired = new Set(entry.walk.pairs.map((pair) => pair.publish));
    for (const publish of entry.walk.publishes) {
      const isSeen = publish.effect.isRequest ? false : paired.has(publish);
      const place = placeOf(publish, reported);
      if (isSeen || place === null || joined.has(spanKey(place.span))) continue;
      const hasWrite = entry.walk.writes.length > 0;
      const reason = publish.effect.isRequest ? 'request-reply' : isRelay(publish.effect.span.file) || entry.walk.relayed.has(publish) ? 'relay' : hasWrite ? 'exclusive-branches' : 'no-write';
      if (reason === 'no-write' || reason === 'exclusive-branches') if (doubtful.has(spanKey(publish.effect.span))) continue;
      const known = safe.get(spanKey(place.span));
      if (known !== undefined && known.reason !== 'no-write') continue;
      safe.set(spanKey(place.span), {
        file: place.span.file, line: place.line, bus: publish.effect.bus, reason, destination: publish.effect.destination,
        handler: handlerAt(entry, publish.stack, publish.stack.length), span: place.span,
      });
    }
    addStores(entry, safe);
  }
  return [...safe.values()].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

/** The publish itself; where it is also part of a finding, the outermost call that leads to it. */
function placeOf(publish: Occurrence<PublishEffect>, reported: ReadonlySet<string>): { span: CallNode['span']; line: number } | null {
  if (!reported.has(spanKey(publish.effect.span))) return publish.effect;
  return publish.stack[0] ?? null;
}

/** Events that are stored with their write and not published by the handler any more. */
function addStores(entry: EntryWalk, safe: Map<string, SafePublish>): void {
  const published = new Set(entry.walk.publishes.map((publish) => publish.effect.event));
  for (const store of entry.walk.stores) {
    const { effect } = store;
    if (effect.event !== null && published.has(effect.event)) continue;
    const handler = handlerAt(entry, store.stack, store.stack.length);
    safe.set(spanKey(effect.span), { file: effect.span.file, line: effect.line, bus: 'outbox', reason: 'outbox-store', destination: effect.type, handler, span: effect.span });
  }
}
