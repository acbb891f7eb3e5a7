import type { Finding, Verdict } from '../coherence/check-history.ts';
import { traceIdOf, wrongAnswer } from '../coherence/client.ts';
import { excerpt } from '../coherence/figures.ts';
import type { History, Invocation } from '../coherence/history.ts';
import { countBy, describeCounts } from './count.ts';
import type { WritesReport } from './writes.ts';

/** What was seen of a run. Moments are milliseconds of the test's own monotonic clock. */
export interface Seen {
  history: History;
  verdict: Verdict;
  /** How often each invocation reached the destination, by its number. */
  arrivals: ReadonlyMap<number, number>;
  writes: WritesReport;
  /** Trace ids of disclosures that have no row in the audit log. */
  unrecorded: readonly string[];
  /** From here on until the fault nothing may fail. */
  quietFrom: number;
  faultFrom: number;
  faultUntil: number;
}

/** What a fault may cost valid requests. */
export interface Bounds {
  /** So many may fail in all; absent: any number while the fault lasts. */
  mostFailed?: number;
  /** Within which they are answered again once all is right; 3 s by default. */
  recoveryMs?: number;
}

/** Trace ids of the invocations that surely disclosed something. */
export function disclosedIn({ invocations }: History, arrivals: ReadonlyMap<number, number>): string[] {
  return invocations.flatMap(({ detail }, number) =>
    detail === '200' || arrivals.has(number) ? [traceIdOf(number)] : [],
  );
}

/** The table that is shown for a run. */
export function figuresOf(seen: Seen): [string, string][] {
  const { history, verdict, quietFrom, faultFrom, faultUntil } = seen;
  const { invocations } = history;
  const failed = failedSince(quietFrom, verdict);
  return [
    ['fault lasted', `${((faultUntil - faultFrom) / 1000).toFixed(1)} s`],
    ...promisesOf(seen),
    ['failed valid requests E', countBy(failed, ({ invocation }) => invocation.detail)],
    ['failed while warming up', String(verdict.failedValid.length - failed.length)],
    ['recovery R', `${(recoveryMsOf(seen) / 1000).toFixed(2)} s`],
    ['p50 / p99 / max before', latencies(invocations.filter(isAt(quietFrom, faultFrom)))],
    ['p50 / p99 / max during', latencies(invocations.filter(isAt(faultFrom, faultUntil)))],
  ];
}

/** Figures of what must hold whatever fails. */
function promisesOf({ history, verdict, arrivals, writes, unrecorded }: Seen): [string, string][] {
  const { invocations, regenerations } = history;
  const counts = [verdict.wrongRefusals, wrongAnswers(history), repeated(arrivals)].map((all) => all.length);
  return [
    ['invocations, of them judged', `${invocations.length}, ${verdict.judged}`],
    ['regenerations', countBy(regenerations, ({ outcome }) => outcome)],
    ['stale accepts S', String(verdict.staleAccepts.length)],
    ['wrong refusals, wrong answers, arrived twice', counts.join(', ')],
    ['writes acknowledged, lost, duplicates', `${writes.acknowledged}, ${writes.lost}, ${writes.duplicates}`],
    ['answers to writes', describeCounts(writes.answers)],
    ['disclosures without a row', String(unrecorded.length)],
  ];
}

/** What must not have happened, in words. */
export function failuresOf(seen: Seen, { mostFailed = Number.POSITIVE_INFINITY, recoveryMs = 3000 }: Bounds): string[] {
  const { history, verdict, quietFrom, faultFrom } = seen;
  const early = verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, faultFrom)(invocation));
  const failed = failedSince(quietFrom, verdict);
  const late = recoveryMsOf(seen);
  return [
    ...brokenPromises(seen),
    ...explain('a valid invocation failed while nothing did', early, history),
    ...(failed.length > mostFailed ? explain(`more than ${mostFailed} valid requests failed`, failed, history) : []),
    ...(late > recoveryMs ? [`valid requests still failed ${Math.round(late)} ms after everything was right`] : []),
  ];
}

/** What must not have happened whatever failed, in words. */
function brokenPromises({ history, verdict, arrivals, writes, unrecorded }: Seen): string[] {
  return [
    ...explain('a key was accepted after its revocation', verdict.staleAccepts, history),
    ...explain('the newest key was refused', verdict.wrongRefusals, history),
    ...wrongAnswers(history)
      .slice(0, 1)
      .map(({ target }) => `an answer of ${target} was not the one that was due`),
    ...repeated(arrivals)
      .slice(0, 1)
      .map(([number, count]) => `invocation ${number} arrived ${count} times`),
    ...(writes.lost > 0 ? [`${writes.lost} acknowledged writes are lost`] : []),
    ...(writes.duplicates > 0 ? [`${writes.duplicates} creations are there more than once`] : []),
    ...writes.unexpected.map((status) => `a creation was answered ${status}`),
    ...unrecorded.slice(0, 1).map((id) => `${unrecorded.length} disclosures have no row, such as ${id}`),
  ];
}

const shownExcerpts = 2;

/** The first of them, each with what happened around it. */
function explain(what: string, findings: readonly Finding[], history: History): string[] {
  return findings.slice(0, shownExcerpts).map((one) => `${what} (${findings.length} times):\n${excerpt(one, history)}`);
}

const wrongAnswers = ({ invocations }: History) => invocations.filter(({ detail }) => detail === wrongAnswer);

const repeated = (arrivals: ReadonlyMap<number, number>) => [...arrivals].filter(([, count]) => count > 1);

const isAt = (from: number, until: number) => (one: Invocation) => one.startedAt >= from && one.endedAt < until;

const failedSince = (from: number, { failedValid }: Verdict) =>
  failedValid.filter(({ invocation }) => invocation.startedAt >= from);

/** How long after everything was right the last valid invocation failed that began after that. */
function recoveryMsOf({ verdict, faultUntil }: Seen): number {
  const late = failedSince(faultUntil, verdict);
  return Math.max(0, ...late.map(({ invocation }) => invocation.endedAt - faultUntil));
}

/** Of those that were answered with a success. */
function latencies(invocations: readonly Invocation[]): string {
  const sorted = invocations
    .filter(({ detail }) => detail === '200')
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]?.toFixed(0) ?? '-';
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} ms (${sorted.length})`;
}
