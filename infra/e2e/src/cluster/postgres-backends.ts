import { parentOf } from '@sluice/local/parts';
import type { Site } from './site.ts';

/** The server processes that serve clients of the site's database. */
export async function listBackends({ query, stores }: Site): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    `select pid from pg_stat_activity
     where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()`,
  );
  const postmaster = stores.processes.get('postgres')?.pid;
  // A process number may be taken again: only children of the server that we started are ours.
  return rows.map(({ pid }) => pid).filter((pid) => parentOf(pid)?.pid === postmaster);
}

/** Ends a session the way an administrator does. */
export const terminateBackend = ({ query }: Site, pid: number) => query('select pg_terminate_backend($1)', [pid]);
