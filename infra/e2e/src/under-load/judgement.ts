import type { Finding, Verdict } from '../coherence/check-history.ts';
import { traceIdOf, wrongAnswer } from '../coherence/client.ts';
import { excerpt } from '../coherence/excerpt.ts';
import type { History, Invocation } from '../coherence/history.ts';
import type { Report } from '../faults/fault-test.ts';
import { countDetails, countKinds, durationMs, percentiles } from './count.ts';

/** What was seen of a run. Moments are milliseconds of the test's own monotonic clock. */
export interface Seen {
  history: History;
  verdict: Verdict;
  arrivals: ReadonlyMap<number, number>;
  writes: WritesReport;
  unrecorded: readonly string[];
  /** From here on until the fault nothing may fail. */
  quietFrom: number;
  faultFrom: number;
  faultUntil: number;
  endedAt: number;
}

export interface WritesReport {
  /** Tokens, Applications and batches of tokens whose creation was acknowledged. */
  acknowledged: number;
  batches: number;
  /** Creations that were never acknowledged, however often they were sent. */
  unacknowledged: number;
  /** Acknowledged, and not there with the value that was sent, or the ids that were answered. */
  lost: number;
  /** Sent several times under one idempotency key, and there more than once. */
  duplicates: number;
  /** Batches of which some tokens are there and some are not, or more than were sent. */
  partial: number;
  /** The status of each answer, or why there was none. */
  answers: readonly string[];
  /** Statuses that are no answer to a good request, whatever fails. */
  unexpected: string[];
}

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

/** Shows what was measured in a run, and tells what must not have happened. */
export function judge(
  report: Report,
  seen: Seen,
  { mostFailed = Number.POSITIVE_INFINITY, recoveryMs = 3000 }: Bounds,
): void {
  const { history, verdict, writes, unrecorded, quietFrom, faultFrom } = seen;
  const { staleAccepts, wrongRefusals } = verdict;
  const wrongAnswers = history.invocations.filter(({ detail }) => detail === wrongAnswer);
  const repeated = [...seen.arrivals].filter(([, count]) => count > 1);
  const early = verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, faultFrom)(invocation));
  const failed = failedSince(quietFrom, verdict);
  const recoveredMs = recoveryMsOf(seen);
  const fail = (what: string, findings: readonly Finding[]) =>
    report.failForEach(findings, (one) => `${what} (${findings.length} times):\n${excerpt(one, history)}`);

  showLoad(report, seen);
  report.figure('stale accepts S', staleAccepts.length);
  fail('a key was accepted after its revocation', staleAccepts);
  const broken = [wrongRefusals, wrongAnswers, repeated].map((all) => all.length);
  report.figure('wrong refusals, wrong answers, arrived twice', broken.join(', '));
  fail('a valid key was refused', wrongRefusals);
  report.failForEach(wrongAnswers, ({ target }) => `an answer of ${target} was not the one that was due`);
  report.failForEach(repeated, ([number, count]) => `invocation ${number} arrived ${count} times`);
  const { acknowledged, lost, duplicates, batches, unacknowledged, partial } = writes;
  report.figure('writes acknowledged, lost, duplicates', `${acknowledged}, ${lost}, ${duplicates}`);
  report.figure('  of them batches, never acknowledged, in part', `${batches}, ${unacknowledged}, ${partial}`);
  report.figure('answers to writes', countKinds(writes.answers));
  report.failIf(lost > 0, `${lost} acknowledged writes are lost`);
  report.failIf(duplicates > 0, `${duplicates} creations are there more than once`);
  report.failIf(partial > 0, `${partial} batches are there in part`);
  report.failForEach(writes.unexpected, (status) => `a creation was answered ${status}`);
  report.none(
    'disclosures without a row',
    unrecorded,
    (id) => `${unrecorded.length} disclosures have no row, such as ${id}`,
  );
  report.figure('failed valid requests E', countDetails(failed.map(({ invocation }) => invocation)));
  report.figure('failed while warming up', verdict.failedValid.length - failed.length);
  fail('a valid invocation failed while nothing did', early);
  if (failed.length > mostFailed) fail(`more than ${mostFailed} valid requests failed`, failed);
  report.figure('recovery R', `${(recoveredMs / 1000).toFixed(2)} s`);
  report.failIf(
    recoveredMs > recoveryMs,
    `valid requests still failed ${Math.round(recoveredMs)} ms after everything was right`,
  );
}

function showLoad(report: Report, { history, verdict, quietFrom, faultFrom, faultUntil, endedAt }: Seen): void {
  const { invocations, regenerations, singleKeys, singleKeyChanges, faults } = history;
  const lasted = [faultFrom - quietFrom, faultUntil - faultFrom, endedAt - faultUntil];
  const waits = (from: number, until: number) =>
    percentiles(regenerations.filter(isAt(from, until)).flatMap(({ confirmation }) => confirmation?.waitedMs ?? []));
  const latencies = (from: number, until: number) =>
    percentiles(invocations.filter((one) => one.detail === '200' && isAt(from, until)(one)).map(durationMs));
  const inSeconds = lasted.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' / ');
  report.figure('lasted quiet / with faults / afterwards', inSeconds);
  report.figure('invocations, of them judged', `${invocations.length}, ${verdict.judged}`);
  report.figure('p50 / p99 / max before', latencies(quietFrom, faultFrom));
  report.figure('p50 / p99 / max during', latencies(faultFrom, faultUntil));
  const outcomes = regenerations.map(({ outcome, detail }) => (outcome === 'confirmed' ? outcome : detail));
  report.figure('regenerations', countKinds(outcomes));
  report.figure('  waited_ms quiet p50 / p99 / max', waits(quietFrom, faultFrom));
  report.figure('  waited_ms with faults p50 / p99 / max', waits(faultFrom, faultUntil));
  if (singleKeys.length > 0) {
    report.figure('single keys deleted, expired', endsOf(history).join(', '));
    report.figure('  additions and deletions', countKinds(singleKeyChanges.map(({ outcome }) => outcome)));
  }
  report.figure('faults', countKinds(faults.map(({ name }) => name)));
}

/** How many single keys were deleted, and how many expired that nobody had tried to delete. */
export function endsOf({ singleKeys }: History): [deleted: number, expired: number] {
  const deleted = singleKeys.filter(({ deletedAt }) => deletedAt !== undefined);
  const expired = singleKeys.filter(({ deletionSentAt }) => deletionSentAt === undefined);
  return [deleted.length, expired.length];
}

export const isAt = (from: number, until: number) => (one: Pick<Invocation, 'startedAt' | 'endedAt'>) =>
  one.startedAt >= from && one.endedAt < until;

const failedSince = (from: number, { failedValid }: Verdict) =>
  failedValid.filter(({ invocation }) => invocation.startedAt >= from);

/** How long after everything was right the last valid invocation failed that began after that. */
function recoveryMsOf({ verdict, faultUntil }: Seen): number {
  const late = failedSince(faultUntil, verdict);
  return Math.max(0, ...late.map(({ invocation }) => invocation.endedAt - faultUntil));
}
