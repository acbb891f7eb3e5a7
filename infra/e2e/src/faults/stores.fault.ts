import { listBackends, terminateBackend } from '../cluster/postgres-backends.ts';
import { sendRedisCommand } from '../cluster/redis-command.ts';
import { freezeStore, killStore } from '../cluster/store-faults.ts';
import { durationMs } from '../under-load/count.ts';
import { createExpiringApplications, sweepIntervalMs } from '../under-load/expiring.ts';
import type { Seen } from '../under-load/judgement.ts';
import { judgeOutage, type Outage } from '../under-load/outage.ts';
import { useCachedKey } from '../under-load/probes.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest } from './fault-test.ts';

const redisLastsMs = 8000;

/** Twenty times what invocations take; below every patience with Redis. */
const slowestMs = 2000;

/** Each is lost with its alarm, or never gets one. */
const expiring = 4;

const terminationLastsMs = 8000;
const terminationIntervalMs = 150;

export const storeFaults: readonly FaultTest[] = [
  redisFault(
    'redis-frozen',
    'Redis hangs for 8 s: no invocation fails or waits for it, what expires is refused and swept',
    async (world, meanwhile) => {
      const frozen = await freezeStore(world, 'redis');
      await Promise.all([world.pause(redisLastsMs), meanwhile()]).finally(frozen.thaw);
    },
  ),
  redisFault(
    'redis-killed',
    'Redis is killed, and is back 5 s later without its data: no invocation fails, what expires is swept',
    async (world, meanwhile) => {
      await killStore(world, 'redis');
      await Promise.all([world.pause(5000), meanwhile()]);
      await world.stores.restart('redis');
    },
  ),
  redisFault(
    'pubsub-killed',
    'each second Redis ends all subscriptions: no invocation fails, no revoked key is accepted',
    async (world, meanwhile) => {
      await Promise.all([repeatCommand(world, 'CLIENT KILL TYPE pubsub'), meanwhile()]);
    },
  ),
  redisFault(
    'redis-flushed',
    'each second Redis forgets everything, alarms included: no invocation fails, what expires is swept',
    async (world, meanwhile) => {
      await Promise.all([repeatCommand(world, 'FLUSHALL'), meanwhile()]);
    },
  ),
  underLoad(
    'postgres-terminated',
    'sessions are ended at random, several a second: what was acknowledged is there, and there once',
    {
      async disturb(world) {
        const random = world.random(5000);
        const until = performance.now() + terminationLastsMs;
        let ended = 0;
        while (performance.now() < until) {
          const backends = await listBackends(world);
          if (backends.length > 0) {
            await terminateBackend(world, random.pick(backends));
            ended += 1;
          }
          await world.pause(terminationIntervalMs);
        }
        return { figures: [['sessions ended', String(ended)]] };
      },
    },
  ),
  outage(
    'postgres-frozen',
    'Postgres hangs for 10 s: what is cached is served until the leases end, then all is 503; nothing is lost',
    async (world) => {
      const frozen = await freezeStore(world, 'postgres');
      const from = performance.now();
      await world.pause(10_000).finally(frozen.thaw);
      return { from, until: performance.now() };
    },
  ),
  outage(
    'postgres-killed',
    'Postgres is killed, and is back 4 s later: what was acknowledged is there, and there once',
    async (world) => {
      await killStore(world, 'postgres');
      const from = performance.now();
      await world.pause(4000);
      const until = performance.now();
      await world.stores.restart('postgres');
      return { from, until };
    },
  ),
];

/**
 * Invocations go on as if nothing were, and what was to expire meanwhile does: Applications that were created before the
 * fault and, by `meanwhile`, during it, with moments in it and after it.
 */
function redisFault(
  name: string,
  description: string,
  act: (world: World, meanwhile: () => Promise<unknown>) => Promise<void>,
): FaultTest {
  return underLoad(name, description, {
    mostFailed: 0,
    environment: { SWEEP_INTERVAL_MS: String(sweepIntervalMs) },
    async disturb(world) {
      const applications = createExpiringApplications(world);
      await applications.add(expiring, 3000);
      await act(world, async () => {
        await applications.add(expiring, 3000);
        await applications.add(expiring, redisLastsMs);
      });
      return {
        async after(seen) {
          const expired = await applications.check(seen.faultUntil);
          return { ...expired, failures: [...(expired.failures ?? []), ...findSlow(seen)] };
        },
      };
    },
  });
}

/** Valid invocations that may have waited for Redis: on a machine that is busy all take longer. */
function findSlow({ history, faultFrom, faultUntil }: Seen): string[] {
  const slowest = (from: number, until: number) =>
    Math.max(
      0,
      ...history.invocations
        .filter(({ detail, startedAt }) => detail === '200' && startedAt > from && startedAt < until)
        .map(durationMs),
    );
  const during = slowest(faultFrom, faultUntil);
  return during > Math.max(slowestMs, 2 * slowest(0, faultFrom))
    ? [`an invocation took ${Math.round(during)} ms while Redis was away`]
    : [];
}

/** Sends a command each second. */
async function repeatCommand({ stores, pause }: World, command: string): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < redisLastsMs; elapsedMs += 1000) {
    await sendRedisCommand(stores.redisUrl, command);
    await pause(1000);
  }
}

/** What it does says how long Postgres was away. */
function outage(name: string, description: string, act: (world: World) => Promise<Outage>): FaultTest {
  return underLoad(name, description, {
    async disturb(world) {
      const cached = await useCachedKey(world);
      const away = await act(world);
      return {
        async after({ history }) {
          await cached.stop();
          return judgeOutage(cached.seen, history, away);
        },
      };
    },
  });
}
