import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Node } from '../cluster/node.ts';
import { sendRedisCommand } from '../cluster/redis-command.ts';
import type { Site } from '../cluster/site.ts';

/** What a process held at a moment. */
export interface ProcessSample {
  pid: number;
  /** Resident memory, in MiB. */
  memory: number;
  sockets: number;
  threads: number;
}

/** What the whole held at a moment of the test's own monotonic clock. What could not be asked is absent. */
export interface Sample {
  at: number;
  processes: Map<string, ProcessSample>;
  /** Sessions at Postgres. */
  postgresConnections?: number;
  redisKeys?: number;
}

/** Reads what processes hold from /proc (Linux). */
async function sampleProcess(pid: number): Promise<ProcessSample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  return { pid, memory: field('VmRSS') / 1024, sockets: descriptors.length, threads: field('Threads') };
}

export interface Sampler {
  readonly samples: readonly Sample[];
  /** Takes the last one. */
  stop(): Promise<void>;
}

/** Takes a sample every so often, also while everything is disturbed. */
export function startSampler(site: Site, nodes: readonly Node[], everyMs: number): Sampler {
  const samples: Sample[] = [];
  const take = async () => {
    const sample: Sample = { at: performance.now(), processes: new Map() };
    for (const node of nodes) {
      if (node.pid === undefined) continue;
      // It may have been killed just now, and then holds nothing.
      const process = await sampleProcess(node.pid).catch(() => undefined);
      if (process) sample.processes.set(node.name, process);
    }
    const [connections, keys] = await Promise.all([countConnections(site), countKeys(site)]);
    if (connections !== undefined) sample.postgresConnections = connections;
    if (keys !== undefined) sample.redisKeys = keys;
    samples.push(sample);
  };
  const stopping = Promise.withResolvers<void>();
  const taking = (async () => {
    for (let stopped = false; !stopped; ) {
      await take();
      const timer = Promise.withResolvers<false>();
      const timeout = setTimeout(timer.resolve, everyMs, false);
      stopped = await Promise.race([timer.promise, stopping.promise.then(() => true)]);
      clearTimeout(timeout);
    }
    await take();
  })();
  return {
    samples,
    async stop() {
      stopping.resolve();
      await taking;
    },
  };
}

/** Undefined while Postgres does not answer, which is what a fault may be. */
async function countConnections({ stores }: Site): Promise<number | undefined> {
  const client = new pg.Client({
    connectionString: stores.databaseUrl,
    connectionTimeoutMillis: 1000,
    query_timeout: 1000,
  });
  client.on('error', () => undefined); // the query rejects
  try {
    await client.connect();
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    return rows[0]?.count;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined); // its session may have been ended
  }
}

async function countKeys({ stores }: Site): Promise<number | undefined> {
  try {
    return Number((await sendRedisCommand(stores.redisUrl, 'DBSIZE')).slice(1));
  } catch {
    return undefined; // Redis is away or hangs
  }
}
