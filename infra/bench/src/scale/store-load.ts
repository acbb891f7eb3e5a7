import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@sluice/local';
import { queryOnce } from '@sluice/testing';
import { Redis } from 'ioredis';
import { cpuSecondsOf } from '../machine/process-facts.ts';
import { pidOf } from '../stack/start-benchmark-stack.ts';

/** Totals so far: processor time in seconds, and counts. */
export interface Load {
  serviceCpu: number;
  postgresCpu: number;
  redisCpu: number;
  /** A statement outside a transaction block counts as one. */
  transactions: number;
  redisCommands: number;
}

/** Backends of Postgres report statistics when they are idle, at most once a second. */
const untilToldMs = 1500;

/** Reads the totals of the named processes, Postgres and Redis. It adds one transaction and one command itself. */
export async function readLoad(stack: Stack, servicePids: readonly number[]): Promise<Load> {
  await delay(untilToldMs);
  const [services, postgresCpu, redisCpu] = await Promise.all([
    Promise.all(servicePids.map(cpuSecondsOf)),
    cpuSecondsWithChildren(pidOf(stack, 'postgres')),
    cpuSecondsOf(pidOf(stack, 'redis')),
  ]);
  const serviceCpu = services.reduce((sum, seconds) => sum + seconds, 0);
  return { serviceCpu, postgresCpu, redisCpu, ...(await countTransactions(stack)), ...(await countCommands(stack)) };
}

export function difference(after: Load, before: Load): Load {
  const names = Object.keys(after) as (keyof Load)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Load;
}

/** Includes children that have ended (proc_pid_stat(5)). */
async function cpuSecondsWithChildren(parent: number): Promise<number> {
  let ticks = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const fields = await readFile(`/proc/${pid}/stat`, 'utf8').then(
      (stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '),
      () => [], // it has ended meanwhile
    );
    const own = Number(fields[11]) + Number(fields[12]);
    if (pid === parent) ticks += own + Number(fields[13]) + Number(fields[14]);
    else if (Number(fields[1]) === parent) ticks += own;
  }
  return ticks / 100;
}

async function countTransactions({ databaseUrl }: Stack): Promise<{ transactions: number }> {
  const [row] = await queryOnce<{ count: string }>(
    databaseUrl,
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  );
  return { transactions: Number(row?.count) };
}

async function countCommands({ redisUrl }: Stack): Promise<{ redisCommands: number }> {
  const redis = new Redis(redisUrl, { enableReadyCheck: false });
  try {
    const stats = await redis.info('stats');
    return { redisCommands: Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]) };
  } finally {
    redis.disconnect();
  }
}
