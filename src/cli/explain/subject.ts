import { UsageError } from '../../core/errors.js';
import type { Finding, SafePublish, Subscriber } from '../../core/finding.js';
import { nearestNames } from '../../core/nearest.js';
import type { ScanResult } from '../../core/report.js';
import { isAt, isFindingAt } from '../../core/subject.js';
import { ruleIds } from './rules.js';

/** What a person asks about: at least one of the lists is not empty. */
export interface Subject {
  readonly findings: readonly Finding[];
  /** Publishes of a function of this name that were looked at and are no finding. */
  readonly safe: readonly SafePublish[];
  readonly subscribers: readonly Subscriber[];
}

type Source = Pick<ScanResult, 'findings' | 'safe' | 'subscribers'>;

/** Looks for the id of a finding or the beginning of one, then for a place, then for a function's whole name, with or without its file, then for the last part of it. */
export function findSubject(source: Source, asked: string): Subject {
  const byId = source.findings.filter(({ id }) => id === asked.toLowerCase());
  if (byId.length > 0) return { findings: byId, safe: [], subscribers: [] };
  for (const found of [placed(source, asked), named(source, (name, file) => name === asked || `${file}#${name}` === asked)]) if (!isEmpty(found)) return found;
  const byPrefix = /^[0-9a-f]{4,}$/i.test(asked) ? source.findings.filter(({ id }) => id.startsWith(asked.toLowerCase())) : [];
  if (byPrefix.length > 0) return { findings: byPrefix, safe: [], subscribers: [] };
  const partly = named(source, (name) => name.split('.').at(-1) === asked);
  if (!isEmpty(partly)) return partly;
  throw unknownSubject(source, asked);
}

/** `src/order.service.ts:12`, as reports print places. */
function placed({ findings, safe, subscribers }: Source, asked: string): Subject {
  return {
    findings: findings.filter((finding) => isFindingAt(asked, finding)),
    safe: safe.filter((publish) => isAt(asked, publish, publish.handler === null ? [] : [publish.handler])),
    subscribers: subscribers.filter((subscriber) => isAt(asked, subscriber)),
  };
}

function named({ findings, safe, subscribers }: Source, isMeant: (name: string, file: string) => boolean): Subject {
  return {
    findings: findings.filter(({ handler }) => isMeant(handler.name, handler.file)),
    safe: safe.filter(({ handler }) => handler !== null && isMeant(handler.name, handler.file)),
    subscribers: subscribers.filter(({ name, file }) => isMeant(name, file)),
  };
}

function isEmpty({ findings, safe, subscribers }: Subject): boolean {
  return findings.length + safe.length + subscribers.length === 0;
}

function unknownSubject({ findings, safe, subscribers }: Source, asked: string): UsageError {
  const names = [
    ...findings.map(({ handler }) => handler.name),
    ...safe.flatMap(({ handler }) => (handler === null ? [] : [handler.name])),
    ...subscribers.map(({ name }) => name),
    ...ruleIds(),
  ];
  const near = nearestNames(asked, names);
  const meant = near.length > 0 ? `Did you mean ${near.map((name) => `'${name}'`).join(' or ')}? ` : '';
  return new UsageError(`No finding, handler, subscriber or rule is called '${asked}'.`, {
    code: 'unknown-subject',
    hint: `${meant}'outboxify scan' lists the handlers and ids.`,
  });
}
