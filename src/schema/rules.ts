import type { SchemaRule } from './rule.js';
import { columnsMissing } from './rules/columns-missing.js';
import { inboxEventIdType } from './rules/inbox-event-id-type.js';
import { inboxUniqueCollation } from './rules/inbox-unique-collation.js';
import { inboxUniqueDeferrable } from './rules/inbox-unique-deferrable.js';
import { inboxUniqueNullable } from './rules/inbox-unique-nullable.js';
import { inboxUniqueNullsNotDistinct } from './rules/inbox-unique-nulls-not-distinct.js';
import { inboxUniquePartial } from './rules/inbox-unique-partial.js';
import { inboxUniqueTooStrict } from './rules/inbox-unique-too-strict.js';
import { inboxUniqueUnusable } from './rules/inbox-unique-unusable.js';
import { inboxUnique } from './rules/inbox-unique.js';
import { indexDuplicate } from './rules/index-duplicate.js';
import { indexLeftOver } from './rules/index-left-over.js';
import { outboxIndexCollation } from './rules/outbox-index-collation.js';
import { outboxIndexOrder } from './rules/outbox-index-order.js';
import { outboxIndexPredicate } from './rules/outbox-index-predicate.js';
import { outboxIndexUnusable } from './rules/outbox-index-unusable.js';
import { outboxIndex } from './rules/outbox-index.js';
import { outboxOccurredAtNullable } from './rules/outbox-occurred-at-nullable.js';
import { outboxOccurredAtPrecision } from './rules/outbox-occurred-at-precision.js';
import { outboxPrimaryKey } from './rules/outbox-primary-key.js';
import { outboxUniqueId } from './rules/outbox-unique-id.js';
import { tableKind } from './rules/table-kind.js';
import { tableMissing } from './rules/table-missing.js';
import { tableUnlogged } from './rules/table-unlogged.js';

/** Where one of these fires, the others have nothing to look at. */
export const preconditions: readonly SchemaRule[] = [tableKind, columnsMissing];

/** The rules that look at keys, indexes and columns of a table. */
export const tableRules: readonly SchemaRule[] = [
  tableUnlogged,
  outboxPrimaryKey,
  outboxUniqueId,
  outboxIndex,
  outboxIndexUnusable,
  outboxIndexPredicate,
  outboxIndexCollation,
  outboxIndexOrder,
  outboxOccurredAtNullable,
  outboxOccurredAtPrecision,
  inboxUnique,
  inboxUniqueUnusable,
  inboxUniquePartial,
  inboxUniqueCollation,
  inboxUniqueDeferrable,
  inboxUniqueNullable,
  inboxUniqueNullsNotDistinct,
  inboxUniqueTooStrict,
  inboxEventIdType,
  indexLeftOver,
  indexDuplicate,
];

/** Every rule of the schema check, for `explain` and the documentation. */
export const schemaRules: readonly Pick<SchemaRule, 'id' | 'title' | 'severity'>[] = [tableMissing, ...preconditions, ...tableRules];
