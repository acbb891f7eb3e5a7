import { CompiledQuery, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';
import { findPool } from './pools.ts';

/** For very many rows, because pg takes twice as long for rows as objects. */
export async function rowsAsArrays<R extends unknown[]>(db: Database, statement: RawBuilder<unknown>): Promise<R[]> {
  const { sql: text, parameters } = statement.compile(db.withoutPlugins());
  const values = [...parameters];
  const pool = findPool(db);
  if (pool) return (await pool.query<R>({ text, values, rowMode: 'array' })).rows;
  const { rows } = await db.executeQuery<object>(CompiledQuery.raw(text, values));
  return rows.map((row) => Object.values(row) as R);
}
