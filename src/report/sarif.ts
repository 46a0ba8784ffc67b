import type { Place } from '../core/place.js';
import type { SkippedFile, UnreadImport } from '../core/report.js';
import type { Annotation } from './annotation.js';
import type { ToolName } from './json.js';
import { ruleHelp, type RuleText } from './rules.js';

export interface SarifInput {
  readonly tool: ToolName;
  readonly annotations: readonly Annotation[];
  readonly rules: readonly RuleText[];
  readonly skipped?: readonly SkippedFile[];
  readonly unread?: readonly UnreadImport[];
}

/** SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
export function renderSarif({ tool, annotations, rules, skipped = [], unread = [] }: SarifInput): string {
  const order = rules.map(({ id }) => id);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: tool.name, semanticVersion: tool.version, rules: rules.map(toRule) } },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: [...skipped.map(toNotification), ...unread.map(toImportNotification)] }],
        results: annotations.map((annotation) => toResult(annotation, order)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function toRule(rule: RuleText): object {
  return {
    id: rule.id,
    name: rule.id.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: rule.title },
    fullDescription: { text: `${rule.problem} ${rule.pain}`.trim() },
    help: { text: `${rule.problem} ${rule.cure}`, markdown: ruleHelp(rule) },
    defaultConfiguration: { level: 'error' },
    properties: { tags: ['reliability'] },
  };
}

function toResult({ rule, level, place, subject, message, fingerprint, steps }: Annotation, order: readonly string[]): object {
  const locations = place === null ? [] : [{ physicalLocation: toLocation(place), logicalLocations: [{ fullyQualifiedName: subject }] }];
  const threadLocations = steps.map((step) => ({ location: { physicalLocation: toLocation(step), message: { text: step.text } } }));
  return {
    ruleId: rule,
    ...(order.includes(rule) ? { ruleIndex: order.indexOf(rule) } : {}),
    level,
    message: { text: message },
    locations,
    partialFingerprints: { 'outboxify/v1': fingerprint },
    ...(steps.length === 0 ? {} : { codeFlows: [{ threadFlows: [{ locations: threadLocations }] }] }),
  };
}

function toNotification({ file, message }: SkippedFile): object {
  return { level: 'warning', message: { text: `The file was passed over: ${message}.` }, locations: [{ physicalLocation: { artifactLocation: toArtifact(file) } }] };
}

function toImportNotification({ file, line, hint }: UnreadImport): object {
  return { level: 'warning', message: { text: hint }, locations: [{ physicalLocation: toLocation({ file, line }) }] };
}

function toLocation({ file, line }: Place): object {
  return { artifactLocation: toArtifact(file), region: { startLine: Math.max(1, line) } };
}

function toArtifact(file: string): object {
  return { uri: file.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}
