import { type MailboxEntry, newestMigration, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** From the last renewal, by the database's clock. */
export const leaseMs = 2000;

const untilMoment = sql`clock_timestamp() + ${sql.lit(`${leaseMs} milliseconds`)}::interval`;

/** Milliseconds since 1970 by the database's clock. */
const nowMs = sql<string>`extract(epoch from clock_timestamp()) * 1000`;

/** Also deletes long expired leases, because without changes no writer would. @returns the database's time. */
export async function insertLease(db: Queryable, holderId: string, service: string): Promise<number> {
  const { rows } = await sql<{ now_ms: string }>`
    with abandoned as (
      delete from cache_leases where holder_id in (
        select holder_id from cache_leases where expires_at < clock_timestamp() - interval '1 minute'
        for update skip locked
      )
    )
    insert into cache_leases (holder_id, service, expires_at, knows)
    values (${holderId}, ${service}, ${untilMoment}, ${newestMigration})
    returning ${nowMs} as now_ms
  `.execute(db);
  return Number(rows[0]?.now_ms);
}

export interface Renewal {
  nowMs: number;
  mailbox: MailboxEntry[];
}

/**
 * Not an upsert, because the writer that deleted the row may have reported success since. The row lock orders the two.
 * @returns undefined if the row is gone.
 */
export async function renewLease(
  db: Queryable,
  holderId: string,
  handled: readonly string[],
): Promise<Renewal | undefined> {
  const { rows } = await sql<{ now_ms: string; mailbox: MailboxEntry[] }>`
    update cache_leases
    set expires_at = ${untilMoment}, mailbox = case when ${handled.length}::integer = 0 then mailbox else (
      select coalesce(jsonb_agg(entry), '[]') from jsonb_array_elements(mailbox) entry
      where not entry ->> 'id' = any(${handled}::text[])
    ) end
    where holder_id = ${holderId}
    returning ${nowMs} as now_ms, mailbox
  `.execute(db);
  const [row] = rows;
  return row && { nowMs: Number(row.now_ms), mailbox: row.mailbox };
}

export async function deleteLease(db: Queryable, holderId: string): Promise<void> {
  await db.deleteFrom('cache_leases').where('holder_id', '=', holderId).execute();
}

export async function listLeases(db: Queryable): Promise<{ holder_id: string; has_expired: boolean }[]> {
  return db
    .selectFrom('cache_leases')
    .select(['holder_id', sql<boolean>`expires_at <= clock_timestamp()`.as('has_expired')])
    .execute();
}

/** A renewal at the same moment either comes first or finds no row. */
export async function deleteExpiredLease(db: Queryable, holderId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('cache_leases')
    .where('holder_id', '=', holderId)
    .where('expires_at', '<=', sql<string>`clock_timestamp()`)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** @returns the ids of the changes now in the mailbox, or undefined if the lease is gone. */
export async function postToMailbox(
  db: Queryable,
  holderId: string,
  entries: readonly MailboxEntry[],
): Promise<Set<string> | undefined> {
  const ids = sql<string[]>`array(select entry ->> 'id' from jsonb_array_elements(mailbox) entry)`.as('ids');
  const row =
    entries.length > 0
      ? await db
          .updateTable('cache_leases')
          .set({ mailbox: sql<string>`mailbox || ${JSON.stringify(entries)}::jsonb` })
          .where('holder_id', '=', holderId)
          .returning(ids)
          .executeTakeFirst()
      : await db.selectFrom('cache_leases').select(ids).where('holder_id', '=', holderId).executeTakeFirst();
  return row && new Set(row.ids);
}
