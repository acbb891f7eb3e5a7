import pg from 'pg';
import type { Finder } from '../search/finder.ts';

/**
 * Every value of every column of every table, what Postgres remembers of them for its planner, and the statements that
 * sessions have run.
 */
export async function searchPostgres(databaseUrl: string, finder: Finder): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('analyze');
    for (const { table, column, isBytes } of await readColumns(client)) {
      const value = isBytes ? column : `(${column})::text`;
      const { rows } = await client.query(`select ${value} as value from ${table} where ${column} is not null`);
      for (const row of rows) finder.search('Postgres, columns', `${table}.${column}`, toBytes(row.value));
    }
    const remembered = `select attname, concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text)
      as value from pg_stats where schemaname not in ('pg_catalog', 'information_schema')`;
    await searchRows(client, finder, 'Postgres, statistics', remembered);
    const statements = "select coalesce(application_name, '') as attname, query as value from pg_stat_activity";
    await searchRows(client, finder, 'Postgres, statements', statements);
  } finally {
    await client.end();
  }
}

async function searchRows(client: pg.Client, finder: Finder, place: string, query: string): Promise<void> {
  const { rows } = await client.query(query);
  for (const row of rows) finder.search(place, row.attname, toBytes(row.value ?? ''));
}

interface Column {
  table: string;
  column: string;
  isBytes: boolean;
}

async function readColumns(client: pg.Client): Promise<Column[]> {
  const { rows } = await client.query(`
    select format('%I.%I', table_schema, table_name) as table, format('%I', column_name) as column,
      data_type = 'bytea' as "isBytes"
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
    order by 1, ordinal_position`);
  return rows;
}

function toBytes(value: Buffer | string): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value);
}
