import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { graphsOf } from '../soak/graphs.ts';
import { growthBetween } from '../soak/growth.ts';
import { startHostileLoad } from '../soak/hostile-load.ts';
import { startSampler } from '../soak/samples.ts';
import { type Clients, startClients } from '../under-load/clients.ts';
import { describeCounts } from '../under-load/count.ts';
import type { Seen } from '../under-load/judgement.ts';
import { type Disturbance, runUnderLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest } from './fault-test.ts';
import { disturbAtRandom } from './revocation.fault.ts';

export interface SoakOptions {
  /** How long things fail. */
  faultsMs: number;
  /** How long nothing fails before, after a warm-up of the same length, and afterwards. */
  calmMs: number;
}

/** These live as long as the soak, so that what grows in them is seen; they are disturbed, but not killed. */
const longLived = new Set(['management-1', 'gateway-1', 'vault-1', 'worker-1']);

/** A longer recovery is allowed, because hostile transforms and all faults at once have left work behind. */
const recoveryMs = 5000;

/** Everything at once for a long time, with hostile transforms and expiring Applications beside the usual load. */
export const soak = ({ faultsMs, calmMs }: SoakOptions): FaultTest => ({
  name: 'soak',
  description:
    '20 minutes of everything with random faults: nothing leaks, nothing is lost, no revoked key is accepted',
  async run(context) {
    const companions = Promise.withResolvers<Awaited<ReturnType<typeof startCompanions>>>();
    return runUnderLoad(context, {
      environment: { SWEEP_INTERVAL_MS: '10000' },
      load: {
        ...{ applications: 8, readers: 12, writers: 3, regenerationPauseMs: 1000 },
        ...{ warmUpMs: calmMs, quietBeforeMs: calmMs, quietAfterMs: 2 * calmMs },
      },
      recoveryMs,
      async beside(world, stack) {
        const started = await startCompanions(world, stack);
        companions.resolve(started);
        return Object.values(started);
      },
      async disturb(world) {
        const mayKill = (name: string) => !longLived.has(name);
        const faults = await disturbAtRandom(world, { mayKill }, async (nemesis) => {
          for (const until = performance.now() + faultsMs; performance.now() < until; ) {
            await world.pause(Math.min(60_000, until - performance.now()));
            world.log(`${world.client.history().invocations.length} invocations, ${nemesis.faults.length} faults`);
          }
        });
        return { faults, after: async (seen) => judge(world, seen, { calmMs, ...(await companions.promise) }) };
      },
    });
  },
});

async function startCompanions(world: World, stack: AsyncDisposableStack) {
  const hostile = await startHostileLoad(world, stack);
  return { hostile, expiring: startExpiring(world), sampler: startSampler(world, 5000) };
}

type Companions = Awaited<ReturnType<typeof startCompanions>>;

async function judge(
  world: World,
  seen: Seen,
  { calmMs, hostile, expiring, sampler }: Companions & { calmMs: number },
): Promise<Disturbance> {
  const { history, quietFrom, faultFrom, endedAt } = seen;
  const { samples } = sampler;
  const growth = growthBetween(samples, [
    { from: quietFrom, until: faultFrom },
    { from: endedAt - calmMs, until: endedAt },
  ]);
  const overdue = await expiring.countOverdue();
  return {
    figures: [
      ['Applications that expired, overdue', `${expiring.created}, ${overdue}`],
      ['hostile transforms', describeCounts(hostile.answers)],
      ...growth.map(({ name, before, after, most }): [string, string] => [
        name,
        `${before.toFixed(0)} → ${after.toFixed(0)} (at most ${most.toFixed(0)})`,
      ]),
      ['over time', graphsOf({ world, history, samples, from: quietFrom, until: endedAt })],
    ],
    failures: [
      ...(overdue > 0 ? [`${overdue} Applications are there a minute after they expired`] : []),
      ...(hostile.wrong > 0 ? [`${hostile.wrong} hostile transforms had their way`] : []),
      ...growth
        .filter(({ after, most }) => after > most)
        .map(
          ({ name, before, after, unit }) => `${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} ${unit}`,
        ),
    ],
  };
}

interface Expiring extends Clients {
  readonly created: number;
  /** Rows that are there though their moment is longer past than the worker is allowed. */
  countOverdue(): Promise<number>;
}

/** A client that creates Applications which expire soon. What a fault prevents is not created: another one follows. */
function startExpiring({ tryManage, query, random }: World): Expiring {
  const prefix = `expiring-${randomUUID()}`;
  const choices = random(6000);
  let created = 0;
  const create = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const expires_at = new Date(Date.now() + choices.between(2000, 20_000)).toISOString();
      const body = { name: prefix, type: 'private', permissions: ['token:use'], expires_at };
      if ((await tryManage('POST', '/applications', body)).status === 201) created += 1;
      await wait(2000);
    }
  };
  return {
    ...startClients([create]),
    get created() {
      return created;
    },
    async countOverdue() {
      const overdue = `select id from applications where name = $1 and expires_at < now() - interval '60 seconds'`;
      return (await query(overdue, [prefix])).length;
    },
  };
}
