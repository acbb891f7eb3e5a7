import { sendRedisCommand } from '../cluster/redis-command.ts';
import { freezeStore, killStore } from '../cluster/store-faults.ts';
import {
  createExpiringApplications,
  type ExpiringApplications,
  sweepIntervalMs,
} from '../under-load/expiring-applications.ts';
import type { Seen } from '../under-load/judgement.ts';
import { type Disturbance, runUnderLoad } from '../under-load/run-under-load.ts';
import type { World } from '../under-load/world.ts';
import type { FaultContext, FaultResult, FaultTest } from './fault-test.ts';

const lastsMs = 8000;

/** Twenty times what invocations take; below every patience with Redis. */
const slowestMs = 2000;

/** Each is lost with its alarm, or never gets one. */
const expiring = 4;

/**
 * Invocations go on as if nothing were, and what was to expire meanwhile does: Applications that were created before the
 * fault and during it, with moments in it and after it.
 */
function runRedisFault(
  context: FaultContext,
  disturb: (world: World, lasting: { createMore: () => Promise<void> }) => Promise<void>,
): Promise<FaultResult> {
  let applications: ExpiringApplications | undefined;
  return runUnderLoad(context, {
    mostFailed: 0,
    environment: { SWEEP_INTERVAL_MS: String(sweepIntervalMs) },
    async disturb(world) {
      const created = createExpiringApplications(world);
      applications = created;
      await created.add(expiring, 3000);
      await disturb(world, {
        async createMore() {
          await created.add(expiring, 3000);
          await created.add(expiring, lastsMs);
        },
      });
      return undefined;
    },
    async after(_world, seen) {
      const expired = (await applications?.check(seen.faultUntil)) ?? {};
      return { ...expired, failures: [...(expired.failures ?? []), ...findSlow(seen)] };
    },
  });
}

/** Valid invocations that may have waited for Redis: on a machine that is busy all take longer. */
function findSlow({ history, faultFrom, faultUntil }: Seen): NonNullable<Disturbance['failures']> {
  const slowest = (from: number, until: number) =>
    Math.max(
      0,
      ...history.invocations
        .filter(({ detail, startedAt }) => detail === '200' && startedAt > from && startedAt < until)
        .map(({ startedAt, endedAt }) => endedAt - startedAt),
    );
  const during = slowest(faultFrom, faultUntil);
  return during > Math.max(slowestMs, 2 * slowest(0, faultFrom))
    ? [`an invocation took ${Math.round(during)} ms while Redis was away`]
    : [];
}

export const redisFrozen: FaultTest = {
  name: 'redis-frozen',
  description: 'Redis hangs for 8 s: no invocation fails or waits for it, what expires is refused and swept',
  run: (context) =>
    runRedisFault(context, async ({ site, pause }, { createMore }) => {
      const frozen = await freezeStore(site, 'redis');
      try {
        await Promise.all([pause(lastsMs), createMore()]);
      } finally {
        await frozen.thaw();
      }
    }),
};

export const redisKilled: FaultTest = {
  name: 'redis-killed',
  description: 'Redis is killed, and is back 5 s later without its data: no invocation fails, what expires is swept',
  run: (context) =>
    runRedisFault(context, async ({ site, pause }, { createMore }) => {
      await killStore(site, 'redis');
      await Promise.all([pause(5000), createMore()]);
      await site.stores.restart('redis');
    }),
};

/** Sends a command each second. */
async function repeatCommand({ site, pause }: World, command: string): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < lastsMs; elapsedMs += 1000) {
    await sendRedisCommand(site.stores.redisUrl, command);
    await pause(1000);
  }
}

export const pubsubKilled: FaultTest = {
  name: 'pubsub-killed',
  description: 'each second Redis ends all subscriptions: no invocation fails, no revoked key is accepted',
  run: (context) =>
    runRedisFault(context, async (world, { createMore }) => {
      await Promise.all([repeatCommand(world, 'CLIENT KILL TYPE pubsub'), createMore()]);
    }),
};

export const redisFlushed: FaultTest = {
  name: 'redis-flushed',
  description: 'each second Redis forgets everything, alarms included: no invocation fails, what expires is swept',
  run: (context) =>
    runRedisFault(context, async (world, { createMore }) => {
      await Promise.all([repeatCommand(world, 'FLUSHALL'), createMore()]);
    }),
};
