import { checkHistory } from '../coherence/check-history.ts';
import { startLoad } from '../coherence/load.ts';
import type { FaultContext, FaultTest } from '../faults/fault-test.ts';
import { countRowsSoon } from './audit-log.ts';
import type { Clients } from './clients.ts';
import { type Bounds, disclosedIn, judge, type Seen } from './judgement.ts';
import { type LoadShape, openWorld, usualLoad, type World, type WorldOptions } from './world.ts';
import { startWrites } from './writes.ts';

export interface Scenario extends Bounds, Pick<WorldOptions, 'processes' | 'environment'> {
  load?: Partial<LoadShape>;
  /** Other clients beside the load. */
  beside?(world: World): Promise<readonly Clients[]>;
  /** Does the fault and puts everything right again. */
  disturb(world: World): Promise<void>;
}

/**
 * A row of the fault table. Clients invoke, regenerate keys and create things; first nothing fails, then the fault
 * happens, then nothing fails again. Whatever the fault: nothing revoked is accepted, nothing valid refused, no answer is
 * wrong, nothing acknowledged is lost or there twice, no invocation arrives twice, and every disclosure has its row.
 */
export const underLoad = (name: string, description: string, scenario: Scenario): FaultTest => ({
  name,
  description,
  run: (context) => runUnderLoad(context, scenario),
});

const mostWarmUpMs = 30_000;
/** What invocations with a valid or a revoked key are answered. */
const honest = new Set(['200', '401', '404']);

async function runUnderLoad(context: FaultContext, scenario: Scenario): Promise<void> {
  const { seed, log, report } = context;
  const { environment, processes } = scenario;
  const load = { ...usualLoad, ...scenario.load };
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const world = await openWorld({ ...context, environment, processes, load }, stack);
  const { client, pause, until } = world;
  const beside = (await scenario.beside?.(world)) ?? [];
  const writes = startWrites(world, load.writers);
  const all = [startLoad(world, load), writes, ...beside];
  const stop = () => Promise.all(all.map((clients) => clients.stop()));
  const broken = Promise.race(all.map((clients) => clients.broken));
  const startedAt = performance.now();
  /** On a busy machine it takes longer until all processes are at work. */
  const isWarm = () => {
    const since = performance.now() - load.warmUpMs;
    return client.history().invocations.every(({ endedAt, detail }) => endedAt < since || honest.has(detail));
  };
  try {
    await Promise.race([pause(load.warmUpMs), broken]);
    await Promise.race([until(isWarm, mostWarmUpMs), broken]);
    const quietFrom = performance.now();
    report.figure('warmed up after', `${((quietFrom - startedAt) / 1000).toFixed(1)} s`);
    await Promise.race([pause(load.quietBeforeMs), broken]);
    log('now the fault');
    const faultFrom = performance.now();
    await Promise.race([scenario.disturb(world), broken]);
    const faultUntil = performance.now();
    log('all is right again');
    await Promise.race([pause(load.quietAfterMs), broken]);
    await stop();
    const endedAt = performance.now();
    const history = { ...client.history(), faults: world.faults };
    const disclosed = disclosedIn(history, client.arrivals);
    const rows = await countRowsSoon(world, disclosed, 5000);
    const seen: Seen = {
      history,
      verdict: checkHistory(history),
      arrivals: client.arrivals,
      writes: await writes.check(),
      unrecorded: disclosed.filter((id) => !rows.has(id)),
      quietFrom,
      faultFrom,
      faultUntil,
      endedAt,
    };
    judge(report, seen, scenario);
    for (const look of world.judges) await look(seen);
  } finally {
    await stop().catch(() => undefined); // they fail because everything ends
  }
}
