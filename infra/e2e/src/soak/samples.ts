import { setTimeout as wait } from 'node:timers/promises';
import type { Site } from '../cluster/site.ts';
import { sendRedisCommand } from '../cluster/stores.ts';
import { startClients } from '../under-load/clients.ts';
import { type ProcessSample, sampleProcess } from '../under-load/process-state.ts';

/** What the whole held at a moment of the test's own monotonic clock. What could not be asked is absent. */
export interface Sample {
  at: number;
  processes: Map<string, ProcessSample>;
  /** Sessions at Postgres. */
  postgresConnections?: number;
  redisKeys?: number;
}

/** Takes a sample every so often, also while everything is disturbed, and the last one when it is stopped. */
export function startSampler(site: Site, everyMs: number) {
  const samples: Sample[] = [];
  const take = async () => {
    const sample: Sample = { at: performance.now(), processes: new Map() };
    for (const node of site.nodes) {
      // One that does not run holds nothing.
      const process = await sampleProcess(node).catch(() => undefined);
      if (process) sample.processes.set(node.name, process);
    }
    // Undefined while a store does not answer, which is what a fault may be.
    const [connections, keys] = await Promise.all(
      [countConnections(site), countKeys(site)].map((each) => each.catch(() => undefined)),
    );
    if (connections !== undefined) sample.postgresConnections = connections;
    if (keys !== undefined) sample.redisKeys = keys;
    samples.push(sample);
  };
  const repeat = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await take();
      await wait(everyMs, undefined, { signal }).catch(() => undefined); // stopped
    }
    await take();
  };
  return { samples, ...startClients([repeat]) };
}

async function countConnections({ query }: Site): Promise<number> {
  const sessions = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  return (await query(sessions)).length;
}

const countKeys = async (site: Site) => Number(await sendRedisCommand(site, 'DBSIZE'));
