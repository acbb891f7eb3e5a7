import { checkHistory } from '../coherence/check-history.ts';
import { startLoad } from '../coherence/load.ts';
import { type FaultContext, type FaultTest, Report } from '../faults/fault-test.ts';
import { countRowsSoon } from './audit-log.ts';
import { type Clients, whileAtWork } from './clients.ts';
import {
  type Bounds,
  disclosedIn,
  judgeFault,
  judgeInvocations,
  judgeWrites,
  type Noted,
  type Span,
  type WritesReport,
} from './judgement.ts';
import { untilQuiet } from './quiet.ts';
import { type LoadShape, openWorld, usualLoad, type World, type WorldOptions } from './world.ts';
import { startWrites } from './writes.ts';

export interface Scenario extends Bounds, Pick<WorldOptions, 'processes' | 'environment'> {
  load?: Partial<LoadShape>;
  /** Not judged, beside the seconds until nothing fails: processes that have just started meet all clients at once. */
  warmUpMs?: number;
  /** How long nothing may fail before the fault. */
  quietBeforeMs?: number;
  /** How long nothing must have failed after it before the run goes on. */
  quietAfterMs?: number;
  /** Other clients beside the load. */
  beside?(world: World): Promise<readonly Clients[]>;
  /** Does the fault and puts everything right again. */
  disturb(world: World): Promise<void>;
}

/** Between two faults, and before the first. */
const calmMs = 2000;

export interface LoadFault extends FaultTest {
  scenario: Scenario;
}

/**
 * A row of the fault table. Clients invoke, regenerate keys and create things; first nothing fails, then the fault
 * happens, then nothing fails again. Whatever the fault: nothing revoked is accepted, nothing valid refused, no answer is
 * wrong, nothing acknowledged is lost or there twice, no invocation arrives twice, and every disclosure has its row.
 */
export const underLoad = (name: string, description: string, scenario: Scenario): LoadFault => ({
  name,
  description,
  scenario,
  run: (context) => runUnderLoad(context, scenario.load, [{ scenario, report: context.report }]),
});

/**
 * Several such faults under one load, with one history and one judge. Each begins when nothing has failed for two
 * seconds after the one before, and the first that fails ends the run.
 */
export const oneAfterAnother = (name: string, description: string, faults: readonly LoadFault[]): FaultTest => ({
  name,
  description,
  run: (context) =>
    runUnderLoad(
      context,
      undefined,
      faults.map((fault) => ({ scenario: fault.scenario, report: context.report.of(fault.name) })),
    ),
});

/** A fault, and the report of what it did. */
interface Part {
  scenario: Scenario;
  report: Report;
}

/** A fault that is over. */
interface Done extends Part, Span {
  /** Since when nothing has failed. */
  calmFrom: number;
  judges: World['judges'];
}

async function runUnderLoad(context: FaultContext, shape: Partial<LoadShape> | undefined, parts: readonly Part[]) {
  const { seed, log, report } = context;
  const load = { ...usualLoad, ...shape };
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const environment = Object.assign({}, ...parts.map(({ scenario }) => scenario.environment));
  const processes = Object.assign({}, ...parts.map(({ scenario }) => scenario.processes));
  const world = await openWorld({ ...context, environment, processes }, stack);
  const writes = startWrites(world, load.writers);
  const done: Done[] = [];
  await whileAtWork([writes, await startLoad(world, load)], async () => {
    for (const part of parts) {
      const own = { ...world, judges: [], settling: [], report: part.report };
      const one = await disturbOnce(own, part, done.at(-1)?.calmFrom);
      done.push(one);
      if (hasFailed(report, { ...noteAll(world), ...one }, one.scenario)) break;
    }
  });
  const last = done.at(-1);
  if (last) last.endedAt = performance.now();
  await judgeAll(world, done, await writes.check());
}

/** @param calmFrom since when nothing has failed; absent before the first fault. */
async function disturbOnce(world: World, part: Part, calmFrom: number | undefined): Promise<Done> {
  const { scenario, report } = part;
  const { beside, quietAfterMs = calmMs } = scenario;
  return whileAtWork((await beside?.(world)) ?? [], async () => {
    const quietFrom = calmFrom === undefined || beside ? await warmUp(world, scenario) : calmFrom;
    world.log('now the fault');
    const faultFrom = performance.now();
    await scenario.disturb(world);
    const faultUntil = performance.now();
    world.log('all is right again');
    await Promise.all(world.settling);
    const calmAgainFrom = await untilQuiet(world, quietAfterMs);
    const inSeconds = `${quietAfterMs / 1000} s`;
    report.failIf(
      calmAgainFrom === undefined,
      `after the fault clients were never served without a failure for ${inSeconds}`,
    );
    const endedAt = performance.now();
    return {
      ...part,
      quietFrom,
      faultFrom,
      faultUntil,
      endedAt,
      calmFrom: calmAgainFrom ?? endedAt,
      judges: world.judges,
    };
  });
}

/** @returns from when on nothing may fail. */
async function warmUp(world: World, { warmUpMs = 0, quietBeforeMs = 3000 }: Scenario): Promise<number> {
  const { pause, report } = world;
  const startedAt = performance.now();
  await pause(warmUpMs);
  const isCalm = (await untilQuiet(world, calmMs)) !== undefined;
  report.failIf(!isCalm, 'before the fault clients were never served without a failure');
  const quietFrom = performance.now();
  report.figure('warmed up after', `${((quietFrom - startedAt) / 1000).toFixed(1)} s`);
  await pause(quietBeforeMs);
  return quietFrom;
}

function noteAll({ client, faults }: World): Noted {
  const history = { ...client.history(), faults };
  return { history, verdict: checkHistory(history), arrivals: client.arrivals };
}

function hasFailed(report: Report, seen: Noted & Span, bounds: Bounds): boolean {
  const untilNow = new Report();
  judgeInvocations(untilNow, seen);
  judgeFault(untilNow, seen, bounds);
  return report.failures.length + untilNow.failures.length > 0;
}

async function judgeAll(world: World, done: readonly Done[], writes: WritesReport): Promise<void> {
  const { report } = world;
  const noted = noteAll(world);
  const disclosed = disclosedIn(noted.history, noted.arrivals);
  const rows = await countRowsSoon(world, disclosed, 5000);
  const whole = { ...noted, writes, unrecorded: disclosed.filter((id) => !rows.has(id)) };
  judgeInvocations(report, whole);
  judgeWrites(report, whole);
  for (const one of done) {
    const seen = { ...whole, ...one };
    judgeFault(one.report, seen, one.scenario);
    for (const look of one.judges) await look(seen);
  }
}
