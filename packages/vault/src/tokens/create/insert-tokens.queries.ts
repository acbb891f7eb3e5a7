import { messageOf, tenantClosed } from '@sluice/audit';
import { counterSlot, preparedSql, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';
import { dueMinutes, insertDue } from '../expiry/due-tokens.queries.ts';
import type { TokenSettings } from '../tenant-settings.queries.ts';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { takesPart } from './equal-tokens.queries.ts';
import { columnLists, storedNames, storedValues, unnested } from './token-columns.ts';

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
  /** If false, the insert answers `deduplicate` if equal tokens must be searched for. */
  deduplicated: boolean;
  /** Existing tokens that this transaction marked as active, to be counted too. */
  alsoActive?: number;
}

export type InsertOutcome = InsertedToken[] | 'deduplicate';

/** One statement inserts all tokens with counters and audit rows, or none. @throws {ServiceError} as `createTokens`. */
export async function insertTokens(db: Queryable, insertion: Insertion): Promise<InsertOutcome> {
  const rows = await insertAtOnce(db, valuesOf(insertion)).catch(refuseTakenId);
  if (rows.length === 0) throw tenantClosed();
  return outcomeOf(rows.filter((row): row is InsertedToken => row.id !== null));
}

/** One statement for each server, because Tenants and counters are on the coordinator, tokens on a shard. */
export async function insertTokensOnShards(tx: Queryable, insertion: Insertion): Promise<InsertOutcome> {
  const values = valuesOf(insertion);
  const [tenant] = await holdTenant(tx, values);
  if (!tenant) throw tenantClosed();
  const inserted = await insertRows(tx, { ...values, ...tenant }).catch(refuseTakenId);
  if (inserted.length > 0) await noteCreation(tx, { ...values, ...tenant });
  return outcomeOf(inserted);
}

const outcomeOf = (inserted: InsertedToken[]): InsertOutcome => (inserted.length === 0 ? 'deduplicate' : inserted);

type Values = ReturnType<typeof valuesOf>;

function valuesOf({ actor, tokens, month, deduplicated, alsoActive = 0 }: Insertion) {
  // Sorted, so that clashing inserts cannot deadlock.
  const rows = tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ...{ tenantId: actor.tenantId, actorId: actor.id, actorType: actor.actorType ?? 'application', month },
    isDeduplicated: !deduplicated && rows.some((row) => takesPart(row) && row.deduplicate === true),
    isSettingAsked: !deduplicated && rows.some((row) => takesPart(row) && row.deduplicate === null),
    ...columnLists(rows),
    ...countsOf(rows, month, alsoActive),
    ...dueMinutes(rows),
    ...auditOf(rows, actor.applicationId),
  };
}

function countsOf(tokens: readonly NewTokenRow[], month: string, alsoActive: number) {
  const byType = [...Map.groupBy(tokens, ({ type }) => type)];
  return {
    counters: [`active_tokens:${month}`, ...byType.map(([type]) => `tokens:${type}`)],
    amounts: [tokens.length + alsoActive, ...byType.map(([, ofType]) => ofType.length)],
  };
}

function auditOf(rows: readonly NewTokenRow[], applicationId: string | undefined) {
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

interface HeldTenant extends TokenSettings {
  now: string;
}

/** Locks the Tenant's row until the transaction ends, so that a purge sees the inserted rows. */
const tenantHeld = ({ tenantId }: Pick<Values, 'tenantId'>) => sql<HeldTenant>`
  select fingerprint_tokens, deduplicate_tokens, clock_timestamp()::timestamptz(3) as now from tenants
  where id = ${tenantId}::uuid and closed_at is null for key share
`;

const tokensInserted = (values: Values) => sql<InsertedToken>`
  insert into tokens (tenant_id, created_by, created_at, active_month, ${storedNames})
  select ${values.tenantId}::uuid, ${values.actorId}::uuid, now, ${values.month}::date, ${storedValues}
  from tenant cross join ${unnested(values)}
  where not (${values.isDeduplicated}::boolean or ${values.isSettingAsked}::boolean and deduplicate_tokens)
  returning id, type, fingerprint, created_at
`;

const creationNoted = (values: Values) => sql`
  counted as (
    insert into counters (tenant_id, counter, slot, value, last_at)
    select ${values.tenantId}::uuid, counter, ${counterSlot}, amount, case when counter like 'tokens:%' then at end
    from made cross join unnest(${values.counters}::text[], ${values.amounts}::bigint[]) as each (counter, amount)
    order by counter
    on conflict (tenant_id, counter, slot) do update
    set value = counters.value + excluded.value, last_at = greatest(counters.last_at, excluded.last_at)
  ),
  due as (${insertDue(values, sql`where exists (select from made)`)})
`;

const auditInserted = (values: Values) => sql`
  insert into audit_log (
    id, tenant_id, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
  )
  select log_id, ${values.tenantId}::uuid, ${values.actorId}::uuid, ${values.actorType}::text, trace_id, 'create',
    'token', entity_id, ${sql.lit(messageOf('token', 'create'))}, detail
  from made cross join unnest(
    ${values.logIds}::uuid[], ${values.traceIds}::text[], ${values.entityIds}::text[], ${values.details}::jsonb[]
  ) as each (log_id, trace_id, entity_id, detail)
`;

/** Returns no row if the Tenant is closed, and a row of nulls if nothing was inserted. */
const insertAtOnce = preparedSql(
  'insert_tokens',
  (values: Values) => sql<{ [Name in keyof InsertedToken]: InsertedToken[Name] | null }>`
    with tenant as (${tenantHeld(values)}),
    inserted as (${tokensInserted(values)}),
    made as (select max(created_at) as at from inserted having count(*) > 0),
    ${creationNoted(values)},
    audited as (${auditInserted(values)})
    select inserted.id, inserted.type, inserted.fingerprint, inserted.created_at
    from tenant left join inserted on true
  `,
);

const holdTenant = preparedSql('hold_tenant', tenantHeld);

const insertRows = preparedSql(
  'insert_tokens_on_shard',
  (values: Values & HeldTenant) => sql<InsertedToken>`
    with tenant as (
      select ${values.fingerprint_tokens}::boolean as fingerprint_tokens,
        ${values.deduplicate_tokens}::boolean as deduplicate_tokens, ${values.now}::timestamptz as now
    )
    ${tokensInserted(values)}
  `,
);

const noteCreation = preparedSql(
  'note_creation',
  (values: Values & HeldTenant) => sql`
    with made as (select ${values.now}::timestamptz as at), ${creationNoted(values)} ${auditInserted(values)}
  `,
);

export class TakenIdError extends ServiceError {
  constructor(cause: unknown) {
    super('conflict', 'A token with this id exists already', { cause });
  }
}

const uniqueViolation = '23505';

/** Recognises it by the table, because constraints of shards have their own names. */
function refuseTakenId(error: unknown): never {
  if (!(error instanceof Error && 'code' in error) || error.code !== uniqueViolation) throw error;
  const table = 'table' in error && typeof error.table === 'string' ? error.table : 'tokens';
  if (!/^tokens(_\d+)?$/.test(table)) throw error;
  throw new TakenIdError(error);
}
