import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { hostileModule, hostilePrograms } from '@sluice/sandbox/hostile';
import type { HttpAnswer } from '@sluice/testing';
import { growthBetween } from '../soak/growth.ts';
import { type Sample, startSampler } from '../soak/samples.ts';
import { startRepeating } from '../under-load/clients.ts';
import { countDetails } from '../under-load/count.ts';
import type { Seen } from '../under-load/judgement.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest, Report } from './fault-test.ts';
import { disturbAtRandom } from './revocation.fault.ts';

export interface SoakOptions {
  faultsMs: number;
  /** How long nothing fails before, after a warm-up of the same length, and afterwards. */
  calmMs: number;
}

/** These live as long as the soak, so that what grows in them is seen; they are disturbed, but not killed. */
const longLived = new Set(['management-1', 'gateway-1', 'vault-1', 'worker-1']);

/** A longer recovery is allowed, because hostile transforms and all faults at once have left work behind. */
const recoveryMs = 5000;

export const soak = ({ faultsMs, calmMs }: SoakOptions): FaultTest =>
  underLoad(
    'soak',
    '20 minutes of everything with random faults: nothing leaks, nothing is lost, no revoked key is accepted',
    {
      environment: { SWEEP_INTERVAL_MS: '10000' },
      load: {
        ...{ applications: 8, readers: 12, writers: 3, regenerationPauseMs: 1000 },
      },
      ...{ warmUpMs: calmMs, quietBeforeMs: calmMs, quietAfterMs: 2 * calmMs },
      recoveryMs,
      async beside(world) {
        const { report } = world;
        const hostile = await startHostile(world);
        const expiring = startExpiring(world);
        const sampler = startSampler(world, 5000);
        world.judges.push(async (seen) => {
          const overdue = await expiring.countOverdue();
          report.figure('Applications that expired, overdue', `${expiring.created}, ${overdue}`);
          report.failIf(overdue > 0, `${overdue} Applications are there a minute after they expired`);
          report.figure('hostile transforms', countDetails(hostile.answers));
          const wrong = hostile.answers.filter((answer) => answer.status > 0 && !isProxyError(answer)).length;
          report.failIf(wrong > 0, `${wrong} hostile transforms had their way`);
          judgeGrowth(report, seen, sampler.samples, calmMs);
        });
        return [hostile, expiring, sampler];
      },
      async disturb(world) {
        const mayKill = (name: string) => !longLived.has(name);
        await disturbAtRandom(world, { mayKill }, async () => {
          for (const until = performance.now() + faultsMs; performance.now() < until; ) {
            await world.pause(Math.min(60_000, until - performance.now()));
            world.log(`${world.client.history().invocations.length} invocations, ${world.faults.length} faults`);
          }
        });
      },
    },
  );

function judgeGrowth(report: Report, seen: Seen, samples: readonly Sample[], calmMs: number): void {
  const { quietFrom, faultFrom, endedAt } = seen;
  const first = { from: quietFrom, until: faultFrom };
  const last = { from: endedAt - calmMs, until: endedAt };
  for (const { name, before, after, most, course } of growthBetween(samples, [first, last])) {
    const change = `${before.toFixed(0)} → ${after.toFixed(0)}`;
    report.figure(name, `${change} (at most ${most.toFixed(0)}) ${course}`);
    report.failIf(after > most, `${name} grew: ${change}`);
  }
}

/** The kinds that hold a thread for longest, and others. */
const programs = [
  'endless loop',
  'promise chain',
  'array that grows while it is read',
  'sparse array to text',
  'random order',
  'rejections that nobody handles',
] as const;

/** An error of ours: the destination was never reached. */
const isProxyError = ({ status, body }: HttpAnswer) => status >= 400 && body.startsWith('{"proxy_error":');

async function startHostile(world: World) {
  const random = world.random(5000);
  const keys: string[] = [];
  for (const name of programs) {
    const code = hostileModule(hostilePrograms[name] ?? '');
    const proxy = { destination_url: 'https://example.com', request_transform: { code } };
    keys.push((await world.createProxy(proxy)).key);
  }
  const answers: HttpAnswer[] = [];
  const invoke = async () => {
    const gateway = random.pick(world.balancer.targets('proxy-gateway'));
    answers.push(await world.invoke(gateway, { proxyKey: random.pick(keys), timeoutMs: 15_000 }));
    await wait(random.between(0, 3000));
  };
  return { answers, ...startRepeating(1, invoke) };
}

/** A client that creates Applications which expire soon. What a fault prevents is not created: another one follows. */
function startExpiring({ tryManage, query, random }: World) {
  const prefix = `expiring-${randomUUID()}`;
  const choices = random(6000);
  let created = 0;
  const create = async () => {
    const expires_at = new Date(Date.now() + choices.between(2000, 20_000)).toISOString();
    const body = { name: prefix, type: 'private', permissions: ['token:use'], expires_at };
    if ((await tryManage('POST', '/applications', body)).status === 201) created += 1;
    await wait(2000);
  };
  return {
    ...startRepeating(1, create),
    get created() {
      return created;
    },
    /** Rows that are there though their moment is longer past than the worker is allowed. */
    async countOverdue(): Promise<number> {
      const overdue = `select id from applications where name = $1 and expires_at < now() - interval '60 seconds'`;
      return (await query(overdue, [prefix])).length;
    },
  };
}
