import { messageOf } from '@sluice/audit';
import { counterSlot, preparedSql, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';

export interface InsertedToken {
  id: string;
  fingerprint: string | null;
  created_at: string;
}

export type InsertOutcome = 'tenant_closed' | 'deduplicate' | InsertedToken[];

export interface InsertOptions {
  /** First day of the current UTC month. */
  month: string;
  /** True once equal tokens have been looked for: insert though deduplication is asked for. */
  deduplicated: boolean;
}

type Inserting = Pick<Actor, 'tenantId' | 'id' | 'actorType'> & { applicationId?: string | null };

/**
 * Inserts tokens with their counters and audit rows: one statement, all or nothing.
 * @returns `deduplicate` where equal tokens must be looked for first; then nothing was inserted.
 * @throws {ServiceError} `conflict` where an id is taken.
 */
export async function insertTokens(
  db: Queryable,
  { tenantId, id: actorId, actorType = 'application', applicationId = null }: Inserting,
  tokens: readonly NewTokenRow[],
  { month, deduplicated }: InsertOptions,
): Promise<InsertOutcome> {
  const acting = [tenantId, actorId, actorType, applicationId, month, `active_tokens:${month}`, deduplicated] as const;
  const rows = await insert(db, ...acting, ...columnsOf(sorted(tokens))).catch(refuseTakenId);
  if (rows.length === 0) return 'tenant_closed';
  const inserted = rows.filter((row): row is InsertedToken => row.id !== null);
  return inserted.length === 0 ? 'deduplicate' : inserted;
}

/** In one order, so that two that clash do not wait for each other for ever. */
function sorted(tokens: readonly NewTokenRow[]): NewTokenRow[] {
  return tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

type Columns = (string | Buffer | boolean | null)[];

/** A list for each column, so that the statement is the same however many tokens there are. Lists in lists go as JSON. */
function columnsOf(tokens: readonly NewTokenRow[]) {
  const column = (read: (token: NewTokenRow) => string | Buffer | boolean | null): Columns => tokens.map(read);
  return [
    column(({ id }) => id),
    column(({ type }) => type),
    column(({ data_ciphertext }) => data_ciphertext),
    column(({ cvc_ciphertext }) => cvc_ciphertext),
    column(({ cvc_due_at }) => cvc_due_at),
    column(({ mask }) => (mask === null ? null : JSON.stringify(mask))),
    column(({ containers }) => JSON.stringify(containers)),
    column(({ metadata }) => JSON.stringify(metadata)),
    column(({ search_indexes }) => JSON.stringify(search_indexes)),
    column(({ search_hashes }) => JSON.stringify(search_hashes)),
    column(({ fingerprint }) => fingerprint),
    column(({ fingerprint_expression }) => fingerprint_expression),
    column(({ deduplicate }) => deduplicate),
    column(({ expires_at }) => expires_at),
    column(({ trace_id }) => trace_id),
    column(({ log_id }) => log_id),
  ] as const;
}

const textsOf = (column: string) => sql`array(select jsonb_array_elements_text(${sql.ref(column)}))`;

interface InsertRow {
  id: string | null;
  fingerprint: string | null;
  created_at: string | null;
}

const insert = preparedSql(
  'insert_tokens',
  (
    tenantId: string,
    actorId: string,
    actorType: string,
    applicationId: string | null,
    month: string,
    activeCounter: string,
    deduplicated: boolean,
    ids: Columns,
    types: Columns,
    dataCiphertexts: Columns,
    cvcCiphertexts: Columns,
    cvcDueAts: Columns,
    masks: Columns,
    containers: Columns,
    metadatas: Columns,
    searchIndexes: Columns,
    searchHashes: Columns,
    fingerprints: Columns,
    fingerprintExpressions: Columns,
    deduplicates: Columns,
    expiresAts: Columns,
    traceIds: Columns,
    logIds: Columns,
  ) => sql<InsertRow>`
    with tenant as (
      select fingerprint_tokens, deduplicate_tokens from tenants where id = ${tenantId}::uuid and closed_at is null
    ),
    input as (
      select * from unnest(
        ${ids}::text[], ${types}::text[], ${dataCiphertexts}::bytea[], ${cvcCiphertexts}::bytea[],
        ${cvcDueAts}::timestamptz[], ${masks}::jsonb[], ${containers}::jsonb[], ${metadatas}::jsonb[],
        ${searchIndexes}::jsonb[], ${searchHashes}::jsonb[], ${fingerprints}::text[],
        ${fingerprintExpressions}::text[], ${deduplicates}::boolean[], ${expiresAts}::timestamptz[], ${traceIds}::text[],
        ${logIds}::uuid[]
      ) as each (
        id, type, data_ciphertext, cvc_ciphertext, cvc_due_at, mask, containers, metadata, search_indexes,
        search_hashes, fingerprint, fingerprint_expression, deduplicate, expires_at, trace_id, log_id
      )
    ),
    inserted as (
      insert into tokens (
        tenant_id, id, type, data_ciphertext, cvc_ciphertext, cvc_due_at, mask, containers, metadata,
        search_indexes, search_hashes, fingerprint, fingerprint_expression, expires_at, active_month, created_by
      )
      select
        ${tenantId}::uuid, id, type, data_ciphertext, cvc_ciphertext, cvc_due_at, mask, ${textsOf('containers')},
        metadata, ${textsOf('search_indexes')}, ${textsOf('search_hashes')},
        case when fingerprint_tokens or fingerprint_expression is not null
          or coalesce(deduplicate, deduplicate_tokens) then fingerprint end,
        fingerprint_expression, expires_at, ${month}::date, ${actorId}::uuid
      from input cross join tenant
      where ${deduplicated}::boolean or not exists (
        select from input cross join tenant where coalesce(deduplicate, deduplicate_tokens)
      )
      returning id, type, fingerprint, created_at
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value, last_at)
      select ${tenantId}::uuid, counter, ${counterSlot}, count(*), max(last_at)
      from (
        select 'tokens:' || type as counter, created_at as last_at from inserted
        union all
        select ${activeCounter}::text, null from inserted
      ) as each
      group by counter order by counter
      on conflict (tenant_id, counter, slot) do update
      set value = counters.value + excluded.value, last_at = greatest(counters.last_at, excluded.last_at)
    ),
    audited as (
      insert into audit_log (
        id, tenant_id, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
      )
      select
        log_id, ${tenantId}::uuid, ${actorId}::uuid, ${actorType}::text, min(trace_id), 'create', 'token', min(id),
        ${sql.lit(messageOf('token', 'create'))},
        nullif(jsonb_strip_nulls(jsonb_build_object(
          'application_id', ${applicationId}::text,
          'token_ids', case when count(*) > 1 then jsonb_agg(id) end)), '{}')
      from input where exists (select from inserted)
      group by log_id
    )
    select inserted.id, inserted.fingerprint, inserted.created_at from tenant left join inserted on true
  `,
);

/** Postgres's code for a row that a unique index has already. */
const uniqueViolation = '23505';

/** By code and table: a table that is spread over shards has another name in each, and so have its constraints. */
function refuseTakenId(error: unknown): never {
  if (!(error instanceof Error && 'code' in error) || error.code !== uniqueViolation) throw error;
  const table = 'table' in error && typeof error.table === 'string' ? error.table : 'tokens';
  if (!/^tokens(_\d+)?$/.test(table)) throw error;
  throw new ServiceError('conflict', 'A token with this id exists already', { cause: error });
}
