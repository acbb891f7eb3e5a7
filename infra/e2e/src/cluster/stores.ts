import type { ChildProcess } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { parentOf, untilEnded } from '@sluice/local/parts';
import { Redis } from 'ioredis';
import { type Frozen, freeze } from './frozen.ts';
import type { Site } from './site.ts';

type StoreName = 'redis' | 'postgres';

type Processes = ReadonlyMap<string, ChildProcess>;

/** Ends a process as `kill -9` does. */
export async function killProcess(processes: Processes, name: string): Promise<void> {
  const found = processOf(processes, name);
  found.kill('SIGKILL');
  await untilEnded(found);
}

/** The same to a store; `site.stores.restart` starts it again. */
export const killStore = ({ stores }: Site, name: StoreName) => killProcess(stores.processes, name);

/** Stops a store as SIGSTOP does, with the server processes of its clients. */
export async function freezeStore({ stores }: Site, name: StoreName): Promise<Frozen> {
  const { pid } = processOf(stores.processes, name);
  // First the one that makes others, so that none is missed.
  const parent = await freeze(pid);
  const children = await childrenOf(pid);
  if (children.length === 0) return parent;
  const frozen = await freeze(...children).catch(async (error: unknown) => {
    await parent.thaw();
    throw error;
  });
  return {
    async thaw() {
      await Promise.all([frozen.thaw(), parent.thaw()]);
    },
  };
}

function processOf(processes: Processes, name: string) {
  const found = processes.get(name);
  if (!found?.pid) throw new Error(`There is no ${name} of ours`);
  return Object.assign(found, { pid: found.pid });
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => parentOf(pid)?.pid === parent);
}

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

export const terminateBackend = ({ query }: Site, pid: number) => query('select pg_terminate_backend($1)', [pid]);

/**
 * Sends one command over a connection of its own.
 * @throws {Error} where Redis does not answer within two seconds, or answers with an error.
 */
export async function sendRedisCommand({ stores }: Site, name: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(stores.redisUrl, {
    connectTimeout: 2000,
    commandTimeout: 2000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined); // the command rejects with it
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}
