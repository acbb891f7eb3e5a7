import pg from 'pg';

/** Uses its own connection, and gives up where Postgres does not answer. @returns the rows. */
export async function queryOnce<T extends object>(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const bounds = { connectionTimeoutMillis: 60_000, query_timeout: 60_000 };
  const client = new pg.Client({ connectionString: databaseUrl, ...bounds });
  client.on('error', () => undefined); // the query rejects
  try {
    await client.connect();
    return (await client.query<T>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined); // its session may have been ended
  }
}
