import { freezeStore, killStore, listBackends, sendRedisCommand, terminateBackend } from '../cluster/stores.ts';
import type { History, Invocation } from '../coherence/history.ts';
import { countDetails, durationMs, percentiles } from '../under-load/count.ts';
import { expiringApplications, sweepIntervalMs } from '../under-load/expiring.ts';
import type { Seen } from '../under-load/judgement.ts';
import { type Probed, useCachedKey } from '../under-load/probes.ts';
import { type LoadFault, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const redisLastsMs = 8000;

/** Twenty times what invocations take; below every patience with Redis. */
const slowestMs = 2000;

/** Each is lost with its alarm, or never gets one. */
const expiring = 4;

const terminationLastsMs = 8000;
const terminationIntervalMs = 150;

export const storeFaults: readonly LoadFault[] = [
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
      await Promise.all([repeatCommand(world, 'CLIENT', 'KILL', 'TYPE', 'pubsub'), meanwhile()]);
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
        world.report.figure('sessions ended', ended);
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
): LoadFault {
  return underLoad(name, description, {
    mostFailed: 0,
    environment: { SWEEP_INTERVAL_MS: String(sweepIntervalMs) },
    async disturb(world) {
      const applications = expiringApplications(world);
      await applications.add(expiring, 3000);
      await act(world, async () => {
        await applications.add(expiring, 3000);
        await applications.add(expiring, redisLastsMs);
      });
      const gone = applications.untilGone();
      world.settling.push(gone);
      world.judges.push(async (seen) => {
        await applications.check(await gone);
        failForSlow(world, seen);
      });
    },
  });
}

/** No valid invocation may have waited for Redis. On a machine that is busy all take longer. */
function failForSlow({ report }: World, { history, quietFrom, faultFrom, faultUntil }: Seen): void {
  const slowest = (from: number, until: number) => {
    const isAt = ({ startedAt }: Invocation) => startedAt > from && startedAt < until;
    const served = history.invocations.filter((one) => one.detail === '200' && isAt(one));
    return Math.max(0, ...served.map(durationMs));
  };
  const during = slowest(faultFrom, faultUntil);
  const isSlow = during > Math.max(slowestMs, 2 * slowest(quietFrom, faultFrom));
  report.failIf(isSlow, `an invocation took ${Math.round(during)} ms while Redis was away`);
}

async function repeatCommand(world: World, name: string, ...args: string[]): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < redisLastsMs; elapsedMs += 1000) {
    await sendRedisCommand(world, name, ...args);
    await world.pause(1000);
  }
}

/** What it does says how long Postgres was away. */
function outage(name: string, description: string, act: (world: World) => Promise<Outage>): LoadFault {
  return underLoad(name, description, {
    async disturb(world) {
      const cached = await useCachedKey(world);
      const away = await act(world);
      world.judges.push(async ({ history }) => {
        await cached.stop();
        judgeOutage(world, cached.seen, history, away);
      });
    },
  });
}

/** From when on Postgres answered nobody, and until when. Moments of the test's own monotonic clock. */
interface Outage {
  from: number;
  until: number;
}

/** How long a lease lasts, and a little for what Postgres answered while it went away. */
const leaseMs = 2000 + 200;

/** While Postgres is away what is cached is served for as long as a lease lasts, and after that nothing is. */
function judgeOutage(
  { report }: World,
  cached: readonly Probed[],
  { invocations }: History,
  { from, until }: Outage,
): void {
  const isDuring = ({ startedAt, endedAt }: Pick<Probed, 'startedAt' | 'endedAt'>) =>
    startedAt > from && endedAt < until;
  const isLate = ({ startedAt }: Pick<Probed, 'startedAt'>) => startedAt > from + leaseMs;
  const during = cached.filter(isDuring);
  const served = during.filter(({ detail }) => detail === '200');
  const lastServed = Math.max(0, ...served.map(({ startedAt }) => startedAt - from));
  const details = countDetails(during);
  report.figure('while it was away: a cached key', `${details}; last served after ${lastServed.toFixed(0)} ms`);
  report.failIf(served.length === 0, 'nothing cached was served while Postgres was away');
  const late = during.filter(isLate);
  const lateUnavailable = late.filter(({ detail }) => detail === '503');
  report.figure('503 then came after p50 / max', percentiles(lateUnavailable.map(durationMs), [0.5, 1]));
  report.failIf(lateUnavailable.length === 0, 'nothing was answered 503 after the leases had ended');
  const decided = [
    ...late.filter(({ detail }) => /^[24]/.test(detail)),
    ...invocations.filter((one) => isDuring(one) && isLate(one) && one.outcome !== 'undecided'),
  ];
  report.failForEach(
    decided,
    ({ target, detail, startedAt }) =>
      `${decided.length} keys were judged without a lease: ${target} answered ${detail}, ${Math.round(startedAt - from)} ms after Postgres went away`,
  );
  const unavailable = [...cached, ...invocations].filter(({ detail }) => detail === '503');
  const unexplained = unavailable.filter(({ retryAfter }) => !/^\d+$/.test(retryAfter ?? ''));
  report.figure('503 without Retry-After', `${unexplained.length} of ${unavailable.length}`);
  report.failIf(unexplained.length > 0, `${unexplained.length} answers 503 do not say when to try again`);
}
