import type { Queryable, ReactorRunState } from '@sluice/database';
import { sql } from 'kysely';

export interface RunPlace {
  at: string;
  id: string;
}

export interface RunRow {
  id: string;
  created_by: string;
  state: ReactorRunState;
  console_ciphertext: Buffer | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface RunFilter {
  tenantId: string;
  reactorId: string;
  /** Only runs that this Application or session requested. */
  createdBy?: string;
}

export async function hasReactor(db: Queryable, { tenantId, reactorId }: RunFilter): Promise<boolean> {
  const found = db.selectFrom('reactors').select('id').where('tenant_id', '=', tenantId).where('id', '=', reactorId);
  return (await found.executeTakeFirst()) !== undefined;
}

interface RunPage {
  size: number;
  after?: RunPlace;
  withConsole: boolean;
}

/** Newest first, and one run more than the page. Leaves out runs that ended a day ago, even while their rows exist. */
export function listRuns(db: Queryable, filter: RunFilter, { size, after, withConsole }: RunPage): Promise<RunRow[]> {
  const { tenantId, reactorId, createdBy } = filter;
  return db
    .selectFrom('reactor_runs')
    .select(['id', 'created_by', 'state', 'created_at', 'started_at', 'ended_at'])
    .select(sql<Buffer | null>`case when ${withConsole} then console_ciphertext end`.as('console_ciphertext'))
    .where('tenant_id', '=', tenantId)
    .where('reactor_id', '=', reactorId)
    .where(sql<boolean>`(ended_at is null or ended_at > statement_timestamp() - interval '24 hours')`)
    .$if(createdBy !== undefined, (query) => query.where('created_by', '=', createdBy ?? ''))
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.at}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute();
}
