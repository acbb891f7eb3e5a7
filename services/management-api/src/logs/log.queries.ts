import {
  type EntityType,
  entityNames,
  type LogRow,
  logColumns,
  storedOperations,
  type Verb,
  verbs,
} from '@sluice/audit';
import { type Database, throughIndexes } from '@sluice/database';
import { canonicalUuid, type Hold } from '@sluice/http-api';
import { type RawBuilder, sql } from 'kysely';
import { reservePage } from '../reserve-page.ts';

export interface LogFilter {
  entity_type?: EntityType;
  entity_id?: string;
  actor_id?: string;
  operation?: Verb;
  token_id?: string;
  trace_id?: string;
  start_date?: string;
  end_date?: string;
}

export interface LogPlace {
  at: string;
  id: string;
}

export const mostCounted = 10_000;

export type Condition = RawBuilder<unknown>;

const columns = sql.join(logColumns.map((name) => sql.ref(`log.${name}`)));
export const all = (conditions: readonly Condition[]) => sql.join(conditions, sql` and `);

interface LogPageRequest {
  filter: LogFilter;
  after?: LogPlace;
  size: number;
  offset?: number;
  hold: Hold;
}

/** Returns one row more than the page if there is a next page. Of skipped pages it reads only an index of ids. */
export async function listLogs(
  db: Database,
  tenantId: string,
  { filter, after, size, offset = 0, hold }: LogPageRequest,
): Promise<LogRow[]> {
  const conditions = namesTokenAlone(filter) ? [] : conditionsOf(tenantId, filter);
  const newest = (limit: number) => {
    const rest: Rest = (more, key) => {
      const where = all([...conditions, isKept(tenantId, key.id), ...(after ? [isAfter(after, key)] : []), ...more]);
      return sql`where ${where} order by ${key.at} desc, ${key.id} desc limit ${limit + offset}`;
    };
    return sql<LogRow>`
      select ${columns} from (
        select log.at, log.id from (${keysOf(tenantId, filter, rest)}) as log
        order by log.at desc, log.id desc limit ${limit} offset ${offset}
      ) as key
      join lateral (
        select * from audit_log where tenant_id = ${tenantId} and at = key.at and id = key.id offset 0
      ) as log on true
      order by log.at desc, log.id desc`;
  };
  await reservePage(db, newest(size), { hold, size });
  const { rows } = await newest(size + 1).execute(db);
  return rows;
}

/** Counts at most one more than {@link mostCounted}, from an index unless rows wait to be dropped. */
export async function countFilteredLogs(db: Database, tenantId: string, filter: LogFilter): Promise<number> {
  const kept = (await hasGivenUpRows(db, tenantId)) ? [isKept] : [];
  // Without the order, a limit over most of a table becomes a scan for each pair of type and operation, although few
  // pairs have rows. Rows of a token or a trace need no such pairs.
  const { token_id, trace_id } = filter;
  const order = token_id === undefined && trace_id === undefined ? sql`order by log.at desc` : sql``;
  const rest: Rest = (more, { id }) => {
    const own = namesTokenAlone(filter) ? [] : conditionsOf(tenantId, filter);
    const conditions = [...own, ...kept.map((each) => each(tenantId, id)), ...more];
    return sql`where ${all(conditions)} ${order} limit ${mostCounted + 1}`;
  };
  const count = sql<{ total: number }>`
    select count(*)::int as total from (
      select from (${keysOf(tenantId, filter, rest)}) as log limit ${mostCounted + 1}
    ) as counted`;
  const { rows } = await throughIndexes(db, (tx) => count.execute(tx));
  return rows[0]?.total ?? 0;
}

export async function countAllLogs(db: Database, tenantId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select (
      coalesce((select size - dropped + unsequenced_before from ledgers where tenant_id = ${tenantId}), 0)
      + coalesce((select sum(cardinality(ids)) from audit_log_arrivals where tenant_id = ${tenantId}), 0)
    )::bigint as total
  `.execute(db);
  return rows[0]?.total ?? 0;
}

/** The columns that order the rows, in the table whose index returns them in this order. */
interface Key {
  at: Condition;
  id: Condition;
}

const ofLog: Key = { at: sql`log.at`, id: sql`log.id` };
const ofTouched: Key = { at: sql`touched.at`, id: sql`touched.log_id` };

type Rest = (more: readonly Condition[], key: Key) => Condition;

function namesTokenAlone({ token_id, start_date: _, end_date: __, ...others }: LogFilter): boolean {
  return token_id !== undefined && Object.keys(others).length === 0;
}

/** `at` and `id` of {@link sourceOf}. If the filter names only a token, its narrow table has both. */
function keysOf(tenantId: string, filter: LogFilter, rest: Rest): Condition {
  if (!namesTokenAlone(filter)) return sql`select log.at, log.id from (${sourceOf(tenantId, filter, rest)}) as log`;
  return sql`
    select touched.at, touched.log_id as id from audit_log_tokens as touched
    ${rest(touchedBy(tenantId, filter), ofTouched)}`;
}

/** An index returns the rows newest first for any filter: a type or operation names few pairs, each read in order. */
export function sourceOf(tenantId: string, filter: LogFilter, rest: Rest): Condition {
  const { token_id, entity_id, actor_id, trace_id, entity_type, operation } = filter;
  if (token_id !== undefined) {
    return sql`
      select log.* from audit_log_tokens as touched
      join lateral (
        select * from audit_log where tenant_id = touched.tenant_id and at = touched.at and id = touched.log_id offset 0
      ) as log on true ${rest(touchedBy(tenantId, filter), ofTouched)}`;
  }
  const ids = entityIdsOf(filter);
  if (ids.length > 1) {
    return sql`
      select log.* from unnest(${ids}::text[]) as each(entity_id)
      cross join lateral (select log.* from audit_log as log ${rest([sql`log.entity_id = each.entity_id`], ofLog)}) as log`;
  }
  const isIndexed = entity_id !== undefined || actor_id !== undefined || trace_id !== undefined;
  if (isIndexed || (entity_type === undefined && operation === undefined)) {
    return sql`select log.* from audit_log as log ${rest([], ofLog)}`;
  }
  const pairs = pairsOf(entity_type, operation);
  return sql`
    select log.* from unnest(${pairs.map(([type]) => type)}::text[], ${pairs.map(([, name]) => name)}::text[])
      as pair(entity_type, operation)
    cross join lateral (
      select log.* from audit_log as log
      ${rest([sql`log.entity_type = pair.entity_type`, sql`log.operation = pair.operation`], ofLog)}
    ) as log`;
}

function pairsOf(entityType: EntityType | undefined, verb: Verb | undefined): [string, string][] {
  const types = entityType ? [entityType] : (Object.keys(entityNames) as EntityType[]);
  return types.flatMap((type) =>
    (verb ? [verb] : verbs).flatMap((each) =>
      storedOperations(type, each).map((name): [string, string] => [type, name]),
    ),
  );
}

/** A UUID in capitals names the same row as in small letters, which rows have. Ids of tokens may be any text. */
function entityIdsOf({ entity_type, entity_id }: LogFilter): string[] {
  if (entity_id === undefined) return [];
  const canonical = canonicalUuid(entity_id) ?? entity_id;
  if (entity_type === undefined) return [...new Set([entity_id, canonical])];
  return [entity_type === 'token' ? entity_id : canonical];
}

/** The row is named `log`. */
export function conditionsOf(tenantId: string, filter: LogFilter): Condition[] {
  const { entity_type, actor_id, operation, trace_id, start_date, end_date } = filter;
  const ids = entityIdsOf(filter);
  const stored = operation && [...new Set(pairsOf(entity_type, operation).map(([, name]) => name))];
  return [
    sql`log.tenant_id = ${tenantId}`,
    ...(entity_type === undefined ? [] : [sql`log.entity_type = ${entity_type}`]),
    ...(ids.length === 1 ? [sql`log.entity_id = ${ids[0]}`] : []),
    // Not `in`, because Postgres would search the index by it and sort the result.
    ...(ids.length > 1 ? [sql`array_position(${ids}::text[], log.entity_id) is not null`] : []),
    ...(actor_id === undefined ? [] : [sql`log.actor_id = ${actor_id}::uuid`]),
    ...(stored === undefined ? [] : [sql`log.operation = any(${stored}::text[])`]),
    ...(trace_id === undefined ? [] : [sql`log.trace_id = ${trace_id}`]),
    ...(start_date === undefined ? [] : [sql`log.at >= ${start_date}::timestamptz`]),
    ...(end_date === undefined ? [] : [sql`log.at < ${end_date}::timestamptz`]),
  ];
}

/** Rows that retention has given up may still wait to be dropped with their month, or to be pruned. */
const givenUp = (tenantId: string) => sql<boolean>`
  coalesce((select leaf_index from ledger_leaves where tenant_id = ${tenantId} order by leaf_index limit 1)
    < (select dropped - (dropped & 15) from ledgers where tenant_id = ${tenantId}), false)`;

async function hasGivenUpRows(db: Database, tenantId: string): Promise<boolean> {
  const { rows } = await sql<{ waits: boolean }>`select ${givenUp(tenantId)} as waits`.execute(db);
  return rows[0]?.waits ?? false;
}

/** Whether retention has kept the row. While no row waits to be dropped, this needs no look-up. */
function isKept(tenantId: string, id: Condition): Condition {
  return sql`(
    not ${givenUp(tenantId)}
    or not exists (
      select from ledger_leaves as leaf where leaf.tenant_id = ${tenantId} and leaf.log_id = ${id}
        and leaf.leaf_index < (select dropped from ledgers where tenant_id = ${tenantId}) offset 0))`;
}

/** The conditions repeat the dates, because the index of the narrow table of touched tokens is searched by them. */
function touchedBy(tenantId: string, { token_id, start_date, end_date }: LogFilter): Condition[] {
  return [
    sql`touched.tenant_id = ${tenantId}`,
    sql`touched.token_id = ${token_id}`,
    ...(start_date === undefined ? [] : [sql`touched.at >= ${start_date}::timestamptz`]),
    ...(end_date === undefined ? [] : [sql`touched.at < ${end_date}::timestamptz`]),
  ];
}

/** The first comparison alone lets Postgres search the index. */
function isAfter({ at, id }: LogPlace, key: Key): Condition {
  return sql`${key.at} <= ${at}::timestamptz and (${key.at}, ${key.id}) < (${at}::timestamptz, ${id}::uuid)`;
}
