import { setTimeout as wait } from 'node:timers/promises';
import type { Site } from '../cluster/site.ts';
import { sendRedisCommand } from '../cluster/stores.ts';
import { startClients } from '../under-load/clients.ts';
import { sampleProcess } from '../under-load/process-state.ts';

/** What processes and stores held at a moment of the test's own monotonic clock. What could not be asked is absent. */
export interface Sample {
  at: number;
  /** Such as `gateway-1 (4711) memory`: a process that is started anew has another number, and so another name. */
  held: Map<string, number>;
}

/** Takes a sample every so often, also while everything is disturbed, and the last one when it is stopped. */
export function startSampler(site: Site, everyMs: number) {
  const samples: Sample[] = [];
  const take = async () => {
    const sample: Sample = { at: performance.now(), held: new Map() };
    for (const node of site.nodes) {
      // One that does not run holds nothing.
      const process = await sampleProcess(node).catch(() => undefined);
      if (!process) continue;
      const { pid, ...held } = process;
      for (const [what, value] of Object.entries(held)) sample.held.set(`${node.name} (${pid}) ${what}`, value);
    }
    // Undefined while a store does not answer, which is what a fault may be.
    const [sessions, keys] = await Promise.all(
      [countSessions(site), countKeys(site)].map((each) => each.catch(() => undefined)),
    );
    if (sessions !== undefined) sample.held.set('Postgres sessions', sessions);
    if (keys !== undefined) sample.held.set('Redis keys', keys);
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

async function countSessions({ query }: Site): Promise<number> {
  const sessions = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  return (await query(sessions)).length;
}

const countKeys = async (site: Site) => Number(await sendRedisCommand(site, 'DBSIZE'));
