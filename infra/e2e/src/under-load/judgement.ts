import type { Finding, Verdict } from '../coherence/check-history.ts';
import { traceIdOf, wrongAnswer } from '../coherence/client.ts';
import { excerpt } from '../coherence/excerpt.ts';
import type { History, Invocation } from '../coherence/history.ts';
import { countBy, describeCounts, durationMs, percentiles } from './count.ts';
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
  endedAt: number;
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
  const { history, verdict, arrivals, writes, unrecorded, quietFrom, faultFrom, faultUntil, endedAt } = seen;
  const { invocations, regenerations, singleKeys, singleKeyChanges, faults } = history;
  const failed = failedSince(quietFrom, verdict);
  const broken = [verdict.wrongRefusals, wrongAnswers(history), repeated(arrivals)].map((all) => all.length);
  const [deleted, expired] = endsOf(history);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const waits = (from: number, until: number) =>
    percentiles(regenerations.filter(isAt(from, until)).flatMap(({ confirmation }) => confirmation?.waitedMs ?? []));
  const latencies = (from: number, until: number) =>
    percentiles(invocations.filter((one) => one.detail === '200' && isAt(from, until)(one)).map(durationMs));
  return [
    [
      'lasted quiet / with faults / afterwards',
      [quietFrom, faultFrom, faultUntil]
        .map((from, at) => seconds(([faultFrom, faultUntil, endedAt][at] ?? from) - from))
        .join(' / '),
    ],
    ['invocations, of them judged', `${invocations.length}, ${verdict.judged}`],
    ['regenerations', countBy(regenerations, ({ outcome, detail }) => (outcome === 'confirmed' ? outcome : detail))],
    ['  waited_ms quiet p50 / p99 / max', waits(quietFrom, faultFrom)],
    ['  waited_ms with faults p50 / p99 / max', waits(faultFrom, faultUntil)],
    ...(singleKeys.length > 0
      ? ([
          ['single keys deleted, expired', `${deleted}, ${expired}`],
          ['  additions and deletions', countBy(singleKeyChanges, ({ outcome }) => outcome)],
        ] satisfies [string, string][])
      : []),
    ['faults', countBy(faults, ({ name }) => name)],
    ['stale accepts S', String(verdict.staleAccepts.length)],
    ['wrong refusals, wrong answers, arrived twice', broken.join(', ')],
    ['writes acknowledged, lost, duplicates', `${writes.acknowledged}, ${writes.lost}, ${writes.duplicates}`],
    [
      '  of them batches, never acknowledged, in part',
      `${writes.batches}, ${writes.unacknowledged}, ${writes.partial}`,
    ],
    ['answers to writes', describeCounts(writes.answers)],
    ['disclosures without a row', String(unrecorded.length)],
    ['failed valid requests E', countBy(failed, ({ invocation }) => invocation.detail)],
    ['failed while warming up', String(verdict.failedValid.length - failed.length)],
    ['recovery R', `${(recoveryMsOf(seen) / 1000).toFixed(2)} s`],
    ['p50 / p99 / max before', latencies(quietFrom, faultFrom)],
    ['p50 / p99 / max during', latencies(faultFrom, faultUntil)],
  ];
}

/** How many single keys were deleted, and how many expired that nobody had tried to delete. */
export function endsOf({ singleKeys }: History): [deleted: number, expired: number] {
  const deleted = singleKeys.filter(({ deletedAt }) => deletedAt !== undefined);
  const expired = singleKeys.filter(({ deletionSentAt }) => deletionSentAt === undefined);
  return [deleted.length, expired.length];
}

/** What must not have happened, in words. */
export function failuresOf(seen: Seen, { mostFailed = Number.POSITIVE_INFINITY, recoveryMs = 3000 }: Bounds): string[] {
  const { history, verdict, arrivals, writes, unrecorded, quietFrom, faultFrom } = seen;
  const early = verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, faultFrom)(invocation));
  const failed = failedSince(quietFrom, verdict);
  const late = recoveryMsOf(seen);
  return [
    ...explain('a key was accepted after its revocation', verdict.staleAccepts, history),
    ...explain('a valid key was refused', verdict.wrongRefusals, history),
    ...wrongAnswers(history)
      .slice(0, 1)
      .map(({ target }) => `an answer of ${target} was not the one that was due`),
    ...repeated(arrivals)
      .slice(0, 1)
      .map(([number, count]) => `invocation ${number} arrived ${count} times`),
    ...(writes.lost > 0 ? [`${writes.lost} acknowledged writes are lost`] : []),
    ...(writes.duplicates > 0 ? [`${writes.duplicates} creations are there more than once`] : []),
    ...(writes.partial > 0 ? [`${writes.partial} batches are there in part`] : []),
    ...writes.unexpected.map((status) => `a creation was answered ${status}`),
    ...unrecorded.slice(0, 1).map((id) => `${unrecorded.length} disclosures have no row, such as ${id}`),
    ...explain('a valid invocation failed while nothing did', early, history),
    ...(failed.length > mostFailed ? explain(`more than ${mostFailed} valid requests failed`, failed, history) : []),
    ...(late > recoveryMs ? [`valid requests still failed ${Math.round(late)} ms after everything was right`] : []),
  ];
}

const shownExcerpts = 3;

/** The first of them, each with what happened around it. */
function explain(what: string, findings: readonly Finding[], history: History): string[] {
  const shown = findings.slice(0, shownExcerpts);
  return shown.map((one) => `${what} (${findings.length} times):\n${excerpt(one, history)}`);
}

const wrongAnswers = ({ invocations }: History) => invocations.filter(({ detail }) => detail === wrongAnswer);

const repeated = (arrivals: ReadonlyMap<number, number>) => [...arrivals].filter(([, count]) => count > 1);

export const isAt = (from: number, until: number) => (one: Pick<Invocation, 'startedAt' | 'endedAt'>) =>
  one.startedAt >= from && one.endedAt < until;

const failedSince = (from: number, { failedValid }: Verdict) =>
  failedValid.filter(({ invocation }) => invocation.startedAt >= from);

/** How long after everything was right the last valid invocation failed that began after that. */
function recoveryMsOf({ verdict, faultUntil }: Seen): number {
  const late = failedSince(faultUntil, verdict);
  return Math.max(0, ...late.map(({ invocation }) => invocation.endedAt - faultUntil));
}
