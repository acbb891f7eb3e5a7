import pg from 'pg';

/** A connection for several statements, or for long ones; it ends with the scope or the stack that uses it. */
export async function connectPostgres(databaseUrl: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
