import { type Kysely, sql } from 'kysely';

/**
 * The membership that whoever accepts takes over. It is not a foreign key, so that an invitation outlives the membership and its
 * link is refused with a reason. The previous version does not read the column: it adds one more member, and the former one stays.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table invitations add column member_id uuid`.execute(db);
}
