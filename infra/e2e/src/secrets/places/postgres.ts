import { queryOnce } from '@sluice/testing';
import type { Finder } from '../search/finder.ts';

type Rows = { name: string; value: Buffer | string | null }[];

/**
 * Every value of every column of every table, what Postgres remembers of them for its planner, and the statements that
 * sessions have run.
 */
export async function searchPostgres(databaseUrl: string, finder: Finder): Promise<void> {
  const query = (text: string) => queryOnce<Rows[number]>(databaseUrl, text);
  const search = (place: string, rows: Rows) => {
    for (const { name, value } of rows) finder.search(place, name, Buffer.from(value ?? ''));
  };
  await query('analyze');
  for (const { table, column, value } of await queryOnce<Column>(databaseUrl, columns)) {
    const rows = await query(
      `select '${table}.${column}' as name, ${value} as value from ${table} where ${column} is not null`,
    );
    search('Postgres, columns', rows);
  }
  search('Postgres, statistics', await query(statistics));
  search('Postgres, statements', await query(statements));
}

interface Column {
  table: string;
  column: string;
  /** Bytes as they are, all else as text. */
  value: string;
}

const columns = `
  select format('%I.%I', table_schema, table_name) as table, format('%I', column_name) as column,
    format(case data_type when 'bytea' then '%I' else '(%I)::text' end, column_name) as value
  from information_schema.columns join information_schema.tables using (table_schema, table_name)
  where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
  order by 1, ordinal_position`;

const statistics = `
  select attname as name, concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text) as value
  from pg_stats where schemaname not in ('pg_catalog', 'information_schema')`;

const statements = `select coalesce(application_name, '') as name, query as value from pg_stat_activity`;
