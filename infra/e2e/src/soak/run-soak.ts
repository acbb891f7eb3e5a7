import { checkHistory } from '../coherence/check-history.ts';
import type { History } from '../coherence/history.ts';
import { startLoad } from '../coherence/load.ts';
import { startNemesis } from '../coherence/nemesis.ts';
import type { FaultContext, FaultResult } from '../faults/fault-test.ts';
import { createRandom } from '../random.ts';
import { countBy, describeCounts } from '../under-load/count.ts';
import { findUnrecorded } from '../under-load/disclosures.ts';
import { disclosedIn, failuresOf, figuresOf, type Seen } from '../under-load/judgement.ts';
import { openWorld, type World } from '../under-load/world.ts';
import { startWrites } from '../under-load/writes.ts';
import { startExpiringApplications } from './expiry-load.ts';
import { graph, toColumns } from './graph.ts';
import { growthBetween } from './growth.ts';
import { startHostileLoad } from './hostile-load.ts';
import { startSampler } from './samples.ts';

export interface SoakOptions extends FaultContext {
  /** How long things fail. */
  faultsMs: number;
  /** How long nothing fails before, after a warm-up of the same length, and afterwards. */
  calmMs: number;
}

/** These live as long as the soak, so that what grows in them is seen; they are disturbed, but not killed. */
const longLived = new Set(['management-1', 'gateway-1', 'vault-1', 'worker-1']);

const applications = 8;
const readers = 12;
const writers = 3;
const regenerationPauseMs = 1000;

/**
 * Everything at once for a long time: invocations with tokens and transforms, new tokens, changes, expiring Applications,
 * hostile transforms, and random faults. Nothing may leak, nothing acknowledged be lost, nothing revoked be accepted.
 */
export async function runSoak(options: SoakOptions): Promise<FaultResult> {
  const { seed, log, faultsMs, calmMs } = options;
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const world = await openWorld({ ...options, applications, environment: { SWEEP_INTERVAL_MS: '10000' } }, stack);
  const { client, balancer, site, tokenKey } = world;
  const management = () => balancer.targets('management-api');
  const vaults = () => balancer.targets('token-vault');
  const targets = () => [...balancer.targets('proxy-gateway'), ...vaults()];
  const hostile = await startHostileLoad(world, createRandom(seed + 5000), stack);
  const writes = startWrites({ site, management, vaults, tokenKey, clients: writers, seed }, stack);
  const expiring = startExpiringApplications(world, createRandom(seed + 6000));
  const load = startLoad({ client, management, targets, readers, regenerationPauseMs, seed });
  const loads = [load, writes, expiring, hostile];
  const sampler = startSampler(site, world.nodes, 5000);
  const broken = Promise.race(loads.map((each) => each.broken));
  const pause = (ms: number) => Promise.race([world.pause(ms), broken]);
  try {
    await pause(calmMs);
    const calmFrom = performance.now();
    await pause(calmMs);
    log('now faults');
    const faultsFrom = performance.now();
    const holders = [...world.of('proxy-gateway'), ...world.of('token-vault')];
    const mayKill = (name: string) => !longLived.has(name);
    const nemesis = startNemesis({ site, holders, writers: world.of('management-api'), mayKill, seed });
    try {
      for (const until = performance.now() + faultsMs; performance.now() < until; ) {
        await Promise.race([pause(Math.min(60_000, until - performance.now())), nemesis.broken]);
        log(`${client.history().invocations.length} invocations, ${nemesis.faults.length} faults`);
      }
    } finally {
      await nemesis.stop();
    }
    const faultsUntil = performance.now();
    log('no more faults');
    await pause(calmMs);
    const lastCalmFrom = performance.now();
    await pause(calmMs);
    await Promise.all(loads.map((each) => each.stop()));
    await sampler.stop();
    const history = { ...client.history(), faults: [...nemesis.faults] };
    const moments = { calmFrom, faultsFrom, faultsUntil, lastCalmFrom, endedAt: performance.now() };
    return await judge({ world, history, moments, samples: sampler.samples, writes, expiring, hostile, seed });
  } finally {
    await Promise.all([...loads.map((each) => each.stop()), sampler.stop()]).catch(() => undefined); // all ends
  }
}

interface Moments {
  calmFrom: number;
  faultsFrom: number;
  faultsUntil: number;
  lastCalmFrom: number;
  endedAt: number;
}

interface Soaked {
  world: World;
  history: History;
  moments: Moments;
  samples: ReturnType<typeof startSampler>['samples'];
  writes: ReturnType<typeof startWrites>;
  expiring: ReturnType<typeof startExpiringApplications>;
  hostile: Awaited<ReturnType<typeof startHostileLoad>>;
  seed: number;
}

/** After the last fault valid requests may fail for so long. */
const recoveryMs = 5000;

async function judge(soaked: Soaked): Promise<FaultResult> {
  const { world, history, moments, samples, hostile, seed } = soaked;
  const { calmFrom, faultsFrom, faultsUntil, lastCalmFrom, endedAt } = moments;
  const { arrivals } = world.client;
  const seen: Seen = {
    history,
    verdict: checkHistory(history),
    arrivals,
    writes: await soaked.writes.check(),
    unrecorded: await findUnrecorded(world.site, disclosedIn(history, arrivals)),
    quietFrom: calmFrom,
    faultFrom: faultsFrom,
    faultUntil: faultsUntil,
  };
  const expired = await soaked.expiring.check();
  const growth = growthBetween(samples, [
    { from: calmFrom, until: faultsFrom },
    { from: lastCalmFrom, until: endedAt },
  ]);
  return {
    figures: [
      ['seed', String(seed)],
      ['calm, with faults and calm for', `${((endedAt - calmFrom) / 60_000).toFixed(1)} min`],
      ['faults', countBy(history.faults, ({ name }) => name)],
      ...figuresOf(seen),
      ['Applications that expired, overdue', `${expired.created}, ${expired.overdue}`],
      ['hostile transforms', describeCounts(hostile.answers)],
      ...growth.map(({ name, before, after, most }): [string, string] => [
        name,
        `${before.toFixed(0)} → ${after.toFixed(0)} (at most ${most.toFixed(0)})`,
      ]),
      ['over time', graphsOf(soaked)],
    ],
    failures: [
      ...failuresOf(seen, { recoveryMs }),
      ...(expired.overdue > 0 ? [`${expired.overdue} Applications are there a minute after they expired`] : []),
      ...(hostile.wrong > 0 ? [`${hostile.wrong} hostile transforms had their way`] : []),
      ...growth
        .filter(({ after, most }) => after > most)
        .map(
          ({ name, before, after, unit }) => `${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} ${unit}`,
        ),
    ],
  };
}

const columns = 60;

function graphsOf({ samples, history, moments, world }: Soaked): string {
  const range = { from: moments.calmFrom, until: moments.endedAt, columns };
  const sampled = samples.filter(({ at }) => at >= range.from);
  const last = <T>(some: readonly T[]) => some.at(-1);
  const started = history.invocations
    .filter(({ startedAt }) => startedAt >= range.from)
    .map((one) => ({ ...one, at: one.startedAt }));
  const latency = (part: number) =>
    toColumns(started, range, (some) => {
      const sorted = some
        .filter(({ detail }) => detail === '200')
        .map(({ startedAt, endedAt }) => endedAt - startedAt)
        .sort((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    });
  const perProcess = (member: 'memory' | 'sockets' | 'threads', unit: string) =>
    world.nodes
      .filter(({ service }) => service !== 'worker' || member === 'memory')
      .map(({ name }) =>
        graph(
          `${member} ${name}`,
          toColumns(sampled, range, (some) => last(some.flatMap((one) => one.processes.get(name)?.[member] ?? []))),
          unit,
        ),
      );
  const faults = history.faults.map((fault) => ({ at: fault.startedAt }));
  const lines = [
    graph(
      'faults',
      toColumns(faults, range, (some) => some.length),
      'in a column',
    ),
    graph(
      'invocations',
      toColumns(started, range, (some) => some.length),
      'in a column',
    ),
    graph(
      'answered by 200',
      toColumns(started, range, (some) => some.filter(({ detail }) => detail === '200').length),
      '',
    ),
    graph('latency p50', latency(0.5), 'ms'),
    graph('latency p99', latency(0.99), 'ms'),
    ...perProcess('memory', 'MiB'),
    ...perProcess('sockets', ''),
    ...perProcess('threads', ''),
    graph(
      'Postgres connections',
      toColumns(sampled, range, (some) => last(some)?.postgresConnections),
      '',
    ),
    graph(
      'Redis keys',
      toColumns(sampled, range, (some) => last(some)?.redisKeys),
      '',
    ),
  ];
  return lines.map((line) => `\n    ${line}`).join('');
}
