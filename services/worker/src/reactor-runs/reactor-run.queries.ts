import { counterSlot, type Database, runBytesCounter } from '@sluice/database';
import { sql } from 'kysely';
import type { EndedRun } from './note-ended-runs.ts';

const batchSize = 1000;

/** A run may kill its gateway, so the number of attempts is limited. */
const mostTries = 5;

/** What {@link EndedRun} tells of a run. */
const ended = sql`runs.tenant_id, runs.reactor_id, runs.created_by, runs.caller_type, runs.trace_id, runs.started_at, runs.failure`;

export type LostRun = Omit<EndedRun, 'failure'> & { id: string } & (
    | { state: 'waiting'; failure: null }
    | { state: 'failed'; failure: 'interrupted' }
  );

/** Ends one batch of runs whose gateway died. Those that may run again wait for another try; the others fail. */
export async function endLeases(db: Database): Promise<LostRun[]> {
  const { rows } = await sql<LostRun>`
    with lost as materialized (
      select tenant_id, id, (marked_at is null or retryable) and tries < ${sql.lit(mostTries)} as again
      from reactor_runs where state = 'running' and lease_until < clock_timestamp()
      order by lease_until limit ${sql.lit(batchSize)} for update skip locked
    )
    update reactor_runs as runs set
      state = case when again then 'waiting' else 'failed' end,
      failure = case when not again then 'interrupted' end,
      ended_at = case when not again then clock_timestamp() end,
      arguments_ciphertext = case when again then arguments_ciphertext end,
      claim_id = null, lease_until = null
    from lost where runs.tenant_id = lost.tenant_id and runs.id = lost.id
    returning ${ended}, runs.id, runs.state
  `.execute(db);
  return rows;
}

/** Jobs for the oldest runs of each Tenant. A gateway that ends a run enqueues the Tenant's next ones. */
const mostJobsOfTenant = 8;

export interface WaitingRun {
  tenant_id: string;
  id: string;
  tries: number;
}

/** Without those that pause after a failed try: their gateway enqueues them, and once the pause is over, the sweep. */
export async function listWaiting(db: Database): Promise<WaitingRun[]> {
  const { rows } = await sql<WaitingRun>`
    select tenant_id, id, tries from (
      select tenant_id, id, tries, row_number() over (partition by tenant_id order by created_at, id) as place
      from reactor_runs where state = 'waiting' and (lease_until is null or lease_until <= clock_timestamp())
    ) as waiting
    where place <= ${sql.lit(mostJobsOfTenant)} order by place
  `.execute(db);
  return rows;
}

const kept = sql`interval '24 hours'`;

/** Ends one batch of runs that have waited for as long as results are kept. */
export async function endOverdue(db: Database): Promise<EndedRun[]> {
  const { rows } = await sql<EndedRun>`
    with overdue as materialized (
      select tenant_id, id from reactor_runs
      where state = 'waiting' and created_at < statement_timestamp() - ${kept}
      limit ${sql.lit(batchSize)} for update skip locked
    )
    update reactor_runs as runs
    set state = 'failed', failure = 'overdue', ended_at = clock_timestamp(), arguments_ciphertext = null
    from overdue where runs.tenant_id = overdue.tenant_id and runs.id = overdue.id
    returning ${ended}
  `.execute(db);
  return rows;
}

/** Deletes one batch of runs that ended a day ago, with their counts. @returns how many. */
export async function deleteOldRuns(db: Database): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with old as materialized (
      select tenant_id, id from reactor_runs where ended_at < statement_timestamp() - ${kept}
      order by ended_at limit ${sql.lit(batchSize)} for update skip locked
    ),
    deleted as (
      delete from reactor_runs as runs using old where runs.tenant_id = old.tenant_id and runs.id = old.id
      returning runs.tenant_id,
        coalesce(octet_length(result_ciphertext), 0) + coalesce(octet_length(console_ciphertext), 0) as bytes
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value)
      select tenant_id, ${runBytesCounter}, ${counterSlot}, -sum(bytes) from deleted group by tenant_id order by tenant_id
      on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value
    )
    select count(*) as deleted from deleted
  `.execute(db);
  return rows[0]?.deleted ?? 0;
}
