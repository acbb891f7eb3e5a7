import { messageOf } from '@sluice/audit';
import {
  counterSlot,
  type Database,
  type Pipeline,
  pipelinedTransaction,
  preparedSql,
  type Queryable,
  type Sent,
} from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { type RawBuilder, sql } from 'kysely';
import { dueMinutes, insertDue } from '../expiry/due-tokens.queries.ts';
import type { TokenSettings } from '../tenant-settings.queries.ts';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';

export interface InsertedToken {
  id: string;
  type: string;
  fingerprint: string | null;
  created_at: string;
}

export interface Insertion {
  actor: Pick<Actor, 'tenantId' | 'id' | 'actorType' | 'applicationId'>;
  tokens: readonly NewTokenRow[];
  /** First day of the current UTC month. */
  month: string;
  /** True once equal tokens have been looked for, so that the insert no longer asks for that. */
  deduplicated: boolean;
}

/** The inserted tokens, or `deduplicate`: nothing was inserted, because equal tokens must be looked for first. */
export type InsertOutcome = InsertedToken[] | 'deduplicate';

/**
 * Inserts tokens with their counters and audit rows; call it in a transaction.
 * @throws {ServiceError} `conflict` where an id is taken; `unauthenticated` where the Tenant is closed.
 */
export async function insertTokens(tx: Queryable, insertion: Insertion): Promise<InsertOutcome> {
  return (await sendTokens(tx, insertion)).answer;
}

/** Inserts in a transaction of its own, which takes two round trips to Postgres. */
export function insertTokensAtOnce(db: Database, insertion: Insertion): Promise<InsertOutcome> {
  return pipelinedTransaction(db, (tx) => sendTokens(tx, insertion));
}

/** Each statement touches either the coordinator (the Tenant, counters) or one shard (tokens) of Postgres. */
async function sendTokens(tx: Queryable | Pipeline, insertion: Insertion): Promise<Sent<InsertOutcome>> {
  const { actor, tokens, month, deduplicated } = insertion;
  const { tenantId } = actor;
  const [settings] = await holdTenant(tx, { tenantId });
  if (!settings) throw new ServiceError('unauthenticated', 'The Tenant of this key is closed');
  const isDeduplicated = ({ deduplicate }: NewTokenRow) => deduplicate ?? settings.deduplicate_tokens;
  if (!deduplicated && tokens.some(isDeduplicated)) return { answer: Promise.resolve('deduplicate') };
  // Sorted, so that two inserts that clash cannot deadlock.
  const rows = tokens
    .map((token) => (isFingerprinted(token, settings) ? token : { ...token, fingerprint: null }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const shared = { tenantId, actorId: actor.id, month, createdAt: settings.now };
  const inserted = insertRows(tx, { ...shared, ...columnsOf(rows) }).catch(refuseTakenId);
  const noted = noteCreation(tx, {
    ...{ ...shared, actorType: actor.actorType ?? 'application' },
    ...countsOf(rows, shared),
    ...dueMinutes(rows),
    ...auditOf(rows, actor.applicationId),
  });
  return { answer: firstOf(inserted, noted) };
}

/** The result of `first` after both have ended. Where `first` fails, `second` fails only as a consequence. */
async function firstOf<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await Promise.allSettled([first, second]);
  const result = await first;
  await second;
  return result;
}

function isFingerprinted({ fingerprint_expression, deduplicate }: NewTokenRow, settings: TokenSettings): boolean {
  return settings.fingerprint_tokens || fingerprint_expression !== null || (deduplicate ?? settings.deduplicate_tokens);
}

/** Locks the Tenant's row until the transaction ends, so that a purge of the Tenant sees what is inserted. */
const holdTenant = preparedSql(
  'hold_tenant',
  ({ tenantId }: { tenantId: string }) => sql<TokenSettings & { now: string }>`
    select fingerprint_tokens, deduplicate_tokens, clock_timestamp()::timestamptz(3) as now from tenants
    where id = ${tenantId}::uuid and closed_at is null for key share
  `,
);

/** Columns of a token and their types. Nested lists are sent as JSON. */
const columns = {
  id: 'text',
  type: 'text',
  data_ciphertext: 'bytea',
  cvc_ciphertext: 'bytea',
  cvc_due_at: 'timestamptz',
  mask: 'jsonb',
  containers: 'texts',
  metadata: 'jsonb',
  search_indexes: 'texts',
  search_hashes: 'texts',
  fingerprint: 'text',
  fingerprint_expression: 'text',
  expires_at: 'timestamptz',
} as const satisfies Partial<Record<keyof NewTokenRow, string>>;

type Column = keyof typeof columns;
const names = Object.keys(columns) as Column[];
const isJson = (column: Column) => columns[column] === 'jsonb' || columns[column] === 'texts';

/** One list for each column, so that the statement does not depend on the number of tokens. */
function columnsOf(tokens: readonly NewTokenRow[]): Record<Column, unknown[]> {
  const list = (name: Column) =>
    tokens.map(({ [name]: value }) => (isJson(name) && value !== null ? JSON.stringify(value) : value));
  return Object.fromEntries(names.map((name) => [name, list(name)])) as Record<Column, unknown[]>;
}

const unnested = (name: Column, values: unknown) =>
  sql`${values}::${sql.raw(isJson(name) ? 'jsonb' : columns[name])}[]`;
const selected = (name: Column): RawBuilder<unknown> =>
  columns[name] === 'texts' ? sql`array(select jsonb_array_elements_text(${sql.ref(name)}))` : sql.ref(name);

interface Shared {
  tenantId: string;
  actorId: string;
  month: string;
  createdAt: string;
}

const insertRows = preparedSql(
  'insert_tokens',
  (values: Shared & Record<Column, unknown[]>) => sql<InsertedToken>`
    insert into tokens (tenant_id, created_by, created_at, active_month, ${sql.join(names.map((name) => sql.ref(name)))})
    select ${values.tenantId}::uuid, ${values.actorId}::uuid, ${values.createdAt}::timestamptz, ${values.month}::date,
      ${sql.join(names.map(selected))}
    from unnest(${sql.join(names.map((name) => unnested(name, values[name])))})
      as each (${sql.join(names.map((name) => sql.ref(name)))})
    returning id, type, fingerprint, created_at
  `,
);

/** SQLSTATE unique_violation. The statement writes only tokens, so it means a taken id. */
const uniqueViolation = '23505';

function refuseTakenId(error: unknown): never {
  if (!(error instanceof Error && 'code' in error) || error.code !== uniqueViolation) throw error;
  throw new ServiceError('conflict', 'A token with this id exists already', { cause: error });
}

interface Counts {
  counters: string[];
  amounts: number[];
  lastAts: (string | null)[];
}

function countsOf(tokens: readonly NewTokenRow[], { month, createdAt }: Shared): Counts {
  const byType = [...Map.groupBy(tokens, ({ type }) => type)];
  return {
    counters: [`active_tokens:${month}`, ...byType.map(([type]) => `tokens:${type}`)],
    amounts: [tokens.length, ...byType.map(([, ofType]) => ofType.length)],
    lastAts: [null, ...byType.map(() => createdAt)],
  };
}

interface AuditRows {
  logIds: string[];
  traceIds: string[];
  entityIds: string[];
  details: (string | null)[];
}

/** One audit row for each request. */
function auditOf(rows: readonly NewTokenRow[], applicationId: string | undefined): AuditRows {
  const requests = [...Map.groupBy(rows, ({ log_id }) => log_id)];
  const detailOf = (tokens: readonly NewTokenRow[]) => ({
    ...(applicationId !== undefined && { application_id: applicationId }),
    ...(tokens.length > 1 && { token_ids: tokens.map(({ id }) => id) }),
  });
  const details = requests.map(([, tokens]) => JSON.stringify(detailOf(tokens)));
  return {
    logIds: requests.map(([logId]) => logId),
    traceIds: requests.map(([, tokens]) => tokens[0]?.trace_id ?? ''),
    entityIds: requests.map(([, tokens]) => tokens[0]?.id ?? ''),
    details: details.map((detail) => (detail === '{}' ? null : detail)),
  };
}

type Creation = Shared & { actorType: string } & Counts & AuditRows & ReturnType<typeof dueMinutes>;

const noteCreation = preparedSql(
  'note_creation',
  (values: Creation) => sql`
    with counted as (
      insert into counters (tenant_id, counter, slot, value, last_at)
      select ${values.tenantId}::uuid, counter, ${counterSlot}, amount, last_at
      from unnest(${values.counters}::text[], ${values.amounts}::bigint[], ${values.lastAts}::timestamptz[])
        as each (counter, amount, last_at)
      order by counter
      on conflict (tenant_id, counter, slot) do update
      set value = counters.value + excluded.value, last_at = greatest(counters.last_at, excluded.last_at)
    ),
    due as (${insertDue(values)})
    insert into audit_log (
      id, tenant_id, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
    )
    select log_id, ${values.tenantId}::uuid, ${values.actorId}::uuid, ${values.actorType}::text, trace_id, 'create',
      'token', entity_id, ${sql.lit(messageOf('token', 'create'))}, detail
    from unnest(
      ${values.logIds}::uuid[], ${values.traceIds}::text[], ${values.entityIds}::text[], ${values.details}::jsonb[]
    ) as each (log_id, trace_id, entity_id, detail)
  `,
);
