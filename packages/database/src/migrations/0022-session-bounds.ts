import { type Kysely, sql } from 'kysely';

/** These indexes count the sessions that wait and those that are authorized, without those that ended. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create index sessions_waiting_until on sessions (tenant_id, application_id, expires_at) include (network, id)
    where authorized_by is null`,
  `create index sessions_authorized_until on sessions (tenant_id, expires_at) where authorized_by is not null`,
  `drop index sessions_waiting`,
];
