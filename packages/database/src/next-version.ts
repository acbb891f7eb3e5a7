import { type RawBuilder, sql } from 'kysely';

/**
 * The `modified_at` of a change: now, but at least a millisecond after the time that the row shows, because that time is
 * the row's entity tag and two versions must not share one. `table` is needed where the names of columns are ambiguous;
 * `now` where the table is distributed, because Citus takes only stable functions there.
 */
export function nextVersion({
  table,
  now = 'clock_timestamp',
}: {
  table?: string;
  now?: 'clock_timestamp' | 'statement_timestamp';
} = {}): RawBuilder<string> {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  const shown = sql`date_trunc('milliseconds', coalesce(${column('modified_at')}, ${column('created_at')}))`;
  return sql<string>`greatest(${sql.raw(now)}(), ${shown} + interval '1 millisecond')`;
}
