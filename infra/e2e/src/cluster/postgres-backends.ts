import { parentOf } from '@sluice/local/parts';
import pg from 'pg';
import type { Site } from './site.ts';

/** The server processes that serve clients of the site's database. */
export async function listBackends(site: Site): Promise<number[]> {
  const rows = await ask<{ pid: number }>(
    site,
    `select pid from pg_stat_activity
     where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()`,
  );
  const postmaster = site.stores.processes.get('postgres')?.pid;
  // A process number may be taken again: only children of the server that we started are ours.
  return rows.map(({ pid }) => pid).filter((pid) => parentOf(pid)?.pid === postmaster);
}

/** Ends a session the way an administrator does. */
export async function terminateBackend(site: Site, pid: number): Promise<void> {
  await ask(site, `select pg_terminate_backend(${pid})`);
}

async function ask<T extends object>({ stores }: Site, query: string): Promise<T[]> {
  const client = new pg.Client({
    connectionString: stores.databaseUrl,
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
  });
  client.on('error', () => undefined); // the query rejects
  try {
    await client.connect();
    return (await client.query<T>(query)).rows;
  } finally {
    await client.end().catch(() => undefined); // its session may have been ended
  }
}
