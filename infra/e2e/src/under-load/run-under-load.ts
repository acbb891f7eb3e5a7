import { checkHistory, type Finding, type Verdict } from '../coherence/check-history.ts';
import { traceIdOf, wrongAnswer } from '../coherence/client.ts';
import { excerpt } from '../coherence/figures.ts';
import type { History, Invocation } from '../coherence/history.ts';
import { startLoad } from '../coherence/load.ts';
import type { FaultContext, FaultResult } from '../faults/fault-test.ts';
import { countBy, describeCounts } from './count.ts';
import { findUnrecorded } from './disclosures.ts';
import { openWorld, type Processes, type World } from './world.ts';
import { startWrites, type WritesReport } from './writes.ts';

/** What a fault may cost, and what it found out itself. */
export interface Disturbance {
  figures?: [name: string, value: string][];
  failures?: string[];
}

/** One fault under load. */
export interface Scenario {
  /** Two of each service by default. */
  processes?: Processes;
  environment?: Record<string, string>;
  /** Does the fault and puts everything right again. */
  disturb(world: World): Promise<Disturbance | undefined>;
  /** Looks at the world once the load has ended. */
  after?(world: World, seen: Seen): Promise<Disturbance>;
  /** How long nothing fails before and after: 4 s. */
  quietMs?: number;
  /** Failed valid requests that are allowed in all; absent: any number while the fault lasts. */
  mostFailed?: number;
  /** Within which valid requests are answered again once all is right; 3 s by default. */
  recoveryMs?: number;
}

/** What was seen of a run. Moments are milliseconds of the test's own monotonic clock. */
export interface Seen {
  history: History;
  verdict: Verdict;
  writes: WritesReport;
  faultFrom: number;
  faultUntil: number;
}

const applications = 6;
const readers = 8;
const writers = 3;
/** So that most invocations meet no change of their key, and can be judged. */
const regenerationPauseMs = 600;

/** Processes that have just started and all clients at once: a connection may come too late, which is an honest 503. */
const warmUpMs = 2000;

/**
 * Clients invoke, regenerate keys and create things; first nothing fails, then the fault happens, then nothing fails
 * again. Whatever the fault: nothing revoked is accepted, nothing valid refused, no answer is wrong, nothing
 * acknowledged is lost or there twice, no invocation arrives twice, and every disclosure has its row.
 */
export async function runUnderLoad(context: FaultContext, scenario: Scenario): Promise<FaultResult> {
  const { seed, log } = context;
  const { quietMs = 4000, environment, processes } = scenario;
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const world = await openWorld({ ...context, environment, processes, applications }, stack);
  const { balancer, client, site, tokenKey } = world;
  const management = () => balancer.targets('management-api');
  const vaults = () => balancer.targets('token-vault');
  const targets = () => [...balancer.targets('proxy-gateway'), ...vaults()];
  const load = startLoad({ client, management, targets, readers, regenerationPauseMs, seed });
  const writes = startWrites({ site, management, vaults, tokenKey, clients: writers, seed }, stack);
  const broken = Promise.race([load.broken, writes.broken]);
  const startedAt = performance.now();
  try {
    await Promise.race([world.pause(warmUpMs + quietMs), broken]);
    log('now the fault');
    const faultFrom = performance.now();
    const disturbance = await Promise.race([scenario.disturb(world), broken]);
    const faultUntil = performance.now();
    log('all is right again');
    await Promise.race([world.pause(quietMs), broken]);
    await Promise.all([load.stop(), writes.stop()]);
    const history = client.history();
    const seen: Seen = {
      history,
      verdict: checkHistory(history),
      writes: await writes.check(),
      faultFrom,
      faultUntil,
    };
    const own = await scenario.after?.(world, seen);
    const unrecorded = await findUnrecorded(site, disclosedIn(world, seen));
    const timing = { ...seen, quietFrom: startedAt + warmUpMs };
    return {
      figures: [
        ['seed', String(seed)],
        ...figuresOf(timing, world, unrecorded.length),
        ...(disturbance?.figures ?? []),
        ...(own?.figures ?? []),
      ],
      failures: [
        ...failuresOf(timing, world, scenario),
        ...unrecorded.slice(0, 3).map((id) => `${unrecorded.length} disclosures have no row, such as ${id}`),
        ...(disturbance?.failures ?? []),
        ...(own?.failures ?? []),
      ],
    };
  } finally {
    await Promise.all([load.stop(), writes.stop()]).catch(() => undefined); // they fail because everything ends
  }
}

interface Timing extends Seen {
  quietFrom: number;
}

const isAt = (from: number, until: number) => (one: Invocation) => one.startedAt >= from && one.endedAt < until;

function figuresOf(seen: Timing, { client }: World, unrecorded: number): [string, string][] {
  const { history, verdict, writes, quietFrom, faultFrom, faultUntil } = seen;
  const { invocations, regenerations } = history;
  const during = invocations.filter(isAt(faultFrom, faultUntil));
  const repeated = [...client.arrivals.values()].filter((count) => count > 1).length;
  const failed = failedSince(quietFrom, verdict);
  return [
    ['fault lasted', `${((faultUntil - faultFrom) / 1000).toFixed(1)} s`],
    ['invocations, of them judged', `${invocations.length}, ${verdict.judged}`],
    ['regenerations', countBy(regenerations, ({ outcome }) => outcome)],
    ['stale accepts S', String(verdict.staleAccepts.length)],
    ['failed valid requests E', countBy(failed, ({ invocation }) => invocation.detail)],
    ['failed while warming up', String(verdict.failedValid.length - failed.length)],
    ['recovery R', `${((lastFailure(seen) - faultUntil) / 1000).toFixed(2)} s`],
    [
      'wrong refusals, wrong answers, arrived twice',
      [verdict.wrongRefusals, wrongAnswers(history)]
        .map((all) => all.length)
        .concat(repeated)
        .join(', '),
    ],
    ['p50 / p99 / max before', latencies(invocations.filter(isAt(quietFrom, faultFrom)))],
    ['p50 / p99 / max during', latencies(during)],
    ['writes acknowledged, lost, duplicates', `${writes.acknowledged}, ${writes.lost}, ${writes.duplicates}`],
    ['answers to writes', describeCounts(writes.answers)],
    ['disclosures without a row', String(unrecorded)],
  ];
}

const failedSince = (from: number, { failedValid }: Verdict) =>
  failedValid.filter(({ invocation }) => invocation.startedAt >= from);

/** When the last valid invocation failed that began after everything was right again. */
function lastFailure({ verdict, faultUntil }: Seen): number {
  const late = verdict.failedValid.filter(({ invocation }) => invocation.startedAt > faultUntil);
  return Math.max(faultUntil, ...late.map(({ invocation }) => invocation.endedAt));
}

const wrongAnswers = ({ invocations }: History) => invocations.filter(({ detail }) => detail === wrongAnswer);

/** Of those that were answered with a success. */
function latencies(invocations: readonly Invocation[]): string {
  const sorted = invocations
    .filter(({ detail }) => detail === '200')
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]?.toFixed(0) ?? '-';
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} ms (${sorted.length})`;
}

const shownExcerpts = 2;

function failuresOf(seen: Timing, world: World, scenario: Scenario): string[] {
  const { history, verdict, writes, quietFrom, faultFrom, faultUntil } = seen;
  const { mostFailed = Number.POSITIVE_INFINITY, recoveryMs = 3000 } = scenario;
  const explain = (what: string, findings: readonly Finding[]) =>
    findings.slice(0, shownExcerpts).map((one) => `${what} (${findings.length} times):\n${excerpt(one, history)}`);
  const early = verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, faultFrom)(invocation));
  const failed = failedSince(quietFrom, verdict);
  const late = lastFailure(seen) - faultUntil;
  const repeated = [...world.client.arrivals].filter(([, count]) => count > 1);
  return [
    ...explain('a key was accepted after its revocation', verdict.staleAccepts),
    ...explain('the newest key was refused', verdict.wrongRefusals),
    ...explain('a valid invocation failed while nothing did', early),
    ...wrongAnswers(history)
      .slice(0, 1)
      .map(({ target }) => `an answer of ${target} was not the one that was due`),
    ...repeated.slice(0, 1).map(([number, count]) => `invocation ${number} arrived ${count} times`),
    ...(failed.length > mostFailed ? explain(`more than ${mostFailed} valid requests failed`, failed) : []),
    ...(late > recoveryMs ? [`valid requests still failed ${Math.round(late)} ms after everything was right`] : []),
    ...(writes.lost > 0 ? [`${writes.lost} acknowledged writes are lost`] : []),
    ...(writes.duplicates > 0 ? [`${writes.duplicates} creations are there more than once`] : []),
    ...writes.unexpected.map((status) => `a creation was answered ${status}`),
  ];
}

/** Trace ids of the invocations that surely disclosed something. */
function disclosedIn({ client }: World, { history }: Seen): string[] {
  return history.invocations.flatMap(({ detail }, number) =>
    detail === '200' || client.arrivals.has(number) ? [traceIdOf(number)] : [],
  );
}
