import { listBackends, terminateBackend } from '../cluster/postgres-backends.ts';
import { freezeStore, killStore } from '../cluster/store-faults.ts';
import { createRandom } from '../random.ts';
import { useCachedKey } from '../under-load/cached-key.ts';
import { judgeOutage, type Outage } from '../under-load/outage.ts';
import type { Probes } from '../under-load/probes.ts';
import { runUnderLoad } from '../under-load/run-under-load.ts';
import type { World } from '../under-load/world.ts';
import type { FaultContext, FaultResult, FaultTest } from './fault-test.ts';

/** What it does says how long Postgres was away. */
function runOutage(context: FaultContext, disturb: (world: World) => Promise<Outage>): Promise<FaultResult> {
  let outage: Outage | undefined;
  let cached: Probes | undefined;
  return runUnderLoad(context, {
    async disturb(world) {
      cached = await useCachedKey(world);
      outage = await disturb(world);
      return undefined;
    },
    async after(_world, { history }) {
      await cached?.stop();
      return outage ? judgeOutage(cached?.seen ?? [], history, outage) : {};
    },
  });
}

export const postgresFrozen: FaultTest = {
  name: 'postgres-frozen',
  description:
    'Postgres hangs for 10 s: what is cached is served until the leases end, then all is 503; nothing is lost',
  run: (context) =>
    runOutage(context, async ({ site, pause }) => {
      const frozen = await freezeStore(site, 'postgres');
      const from = performance.now();
      try {
        await pause(10_000);
      } finally {
        await frozen.thaw();
      }
      return { from, until: performance.now() };
    }),
};

export const postgresKilled: FaultTest = {
  name: 'postgres-killed',
  description: 'Postgres is killed, and is back 4 s later: what was acknowledged is there, and there once',
  run: (context) =>
    runOutage(context, async ({ site, pause }) => {
      await killStore(site, 'postgres');
      const from = performance.now();
      await pause(4000);
      const until = performance.now();
      await site.stores.restart('postgres');
      return { from, until };
    }),
};

const lastsMs = 8000;
const intervalMs = 150;

export const postgresTerminated: FaultTest = {
  name: 'postgres-terminated',
  description: 'sessions are ended at random, several a second: what was acknowledged is there, and there once',
  run: (context) =>
    runUnderLoad(context, {
      async disturb({ site, pause }) {
        const random = createRandom(context.seed + 5000);
        const until = performance.now() + lastsMs;
        let ended = 0;
        while (performance.now() < until) {
          const backends = await listBackends(site);
          if (backends.length > 0) {
            await terminateBackend(site, random.pick(backends));
            ended += 1;
          }
          await pause(intervalMs);
        }
        return { figures: [['sessions ended', String(ended)]] };
      },
    }),
};
