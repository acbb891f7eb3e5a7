import type { Finding, Verdict } from '../coherence/check-history.ts';
import { traceIdOf, wrongAnswer } from '../coherence/client.ts';
import { excerpt } from '../coherence/excerpt.ts';
import type { History, Invocation } from '../coherence/history.ts';
import type { Report } from '../faults/fault-test.ts';
import { type Answered, countDetails, countKinds, durationMs, percentiles } from './count.ts';

/** What clients saw until now. */
export interface Noted {
  history: History;
  verdict: Verdict;
  arrivals: ReadonlyMap<number, number>;
}

/** When a fault happened, in milliseconds of the test's own monotonic clock. */
export interface Span {
  /** From here on until the fault nothing may fail. */
  quietFrom: number;
  faultFrom: number;
  faultUntil: number;
  endedAt: number;
}

/** What was seen of a run, in which there may have been other faults before and after this one. */
export interface Seen extends Noted, Span {
  writes: WritesReport;
  unrecorded: readonly string[];
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
  answers: readonly Answered[];
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

/** Tells which invocations were answered or delivered as they never may be, whatever fails. */
export function judgeInvocations(report: Report, { history, verdict, arrivals }: Noted): void {
  const { staleAccepts, wrongRefusals, judged } = verdict;
  const { invocations } = history;
  const wrongAnswers = invocations.filter(({ detail }) => detail === wrongAnswer);
  const repeated = [...arrivals].filter(([, count]) => count > 1);
  report.figure('invocations, of them judged', `${invocations.length}, ${judged}`);
  report.figure('stale accepts S', staleAccepts.length);
  failForFindings(report, history, 'a key was accepted after its revocation', staleAccepts);
  const broken = [wrongRefusals, wrongAnswers, repeated].map((all) => all.length);
  report.figure('wrong refusals, wrong answers, arrived twice', broken.join(', '));
  failForFindings(report, history, 'a valid key was refused', wrongRefusals);
  report.failForEach(wrongAnswers, ({ target }) => `an answer of ${target} was not the one that was due`);
  report.failForEach(repeated, ([number, count]) => `invocation ${number} arrived ${count} times`);
}

/** Tells what became of acknowledged writes, and of disclosures, that never may. */
export function judgeWrites(report: Report, { writes, unrecorded }: Pick<Seen, 'writes' | 'unrecorded'>): void {
  const { acknowledged, lost, duplicates, batches, unacknowledged, partial } = writes;
  report.figure('writes acknowledged, lost, duplicates', `${acknowledged}, ${lost}, ${duplicates}`);
  report.figure('  of them batches, never acknowledged, in part', `${batches}, ${unacknowledged}, ${partial}`);
  report.figure('answers to writes', countDetails(writes.answers));
  report.failIf(lost > 0, `${lost} acknowledged writes are lost`);
  report.failIf(duplicates > 0, `${duplicates} creations are there more than once`);
  report.failIf(partial > 0, `${partial} batches are there in part`);
  report.failForEach(writes.unexpected, (status) => `a creation was answered ${status}`);
  report.none(
    'disclosures without a row',
    unrecorded,
    (id) => `${unrecorded.length} disclosures have no row, such as ${id}`,
  );
}

/** Shows what a fault did to the load, and tells what was more than it may do. */
export function judgeFault(
  report: Report,
  seen: Noted & Span,
  { mostFailed = Number.POSITIVE_INFINITY, recoveryMs = 3000 }: Bounds,
): void {
  const { history, verdict, quietFrom, faultFrom } = seen;
  const early = verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, faultFrom)(invocation));
  const failed = failedIn(seen);
  const recoveredMs = recoveryMsOf(seen);
  showLoad(report, seen);
  report.figure('failed valid requests E', countDetails(failed.map(({ invocation }) => invocation)));
  failForFindings(report, history, 'a valid invocation failed while nothing did', early);
  if (failed.length > mostFailed) {
    failForFindings(report, history, `more than ${mostFailed} valid requests failed`, failed);
  }
  report.figure('recovery R', `${(recoveredMs / 1000).toFixed(2)} s`);
  report.failIf(
    recoveredMs > recoveryMs,
    `valid requests still failed ${Math.round(recoveredMs)} ms after everything was right`,
  );
}

function failForFindings(report: Report, history: History, what: string, findings: readonly Finding[]): void {
  report.failForEach(findings, (one) => `${what} (${findings.length} times):\n${excerpt(one, history)}`);
}

function showLoad(report: Report, { history, quietFrom, faultFrom, faultUntil, endedAt }: Noted & Span): void {
  const { invocations } = history;
  const regenerations = history.regenerations.filter(isAt(quietFrom, endedAt));
  const singleKeyChanges = history.singleKeyChanges.filter(isAt(quietFrom, endedAt));
  const lasted = [faultFrom - quietFrom, faultUntil - faultFrom, endedAt - faultUntil];
  const waits = (from: number, until: number) =>
    percentiles(regenerations.filter(isAt(from, until)).flatMap(({ confirmation }) => confirmation?.waitedMs ?? []));
  const latencies = (from: number, until: number) =>
    percentiles(invocations.filter((one) => one.detail === '200' && isAt(from, until)(one)).map(durationMs));
  const inSeconds = lasted.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' / ');
  report.figure('lasted quiet / with faults / afterwards', inSeconds);
  report.figure('p50 / p99 / max before', latencies(quietFrom, faultFrom));
  report.figure('p50 / p99 / max during', latencies(faultFrom, faultUntil));
  const outcomes = regenerations.map(({ outcome, detail }) => (outcome === 'confirmed' ? outcome : detail));
  report.figure('regenerations', countKinds(outcomes));
  report.figure('  waited_ms quiet p50 / p99 / max', waits(quietFrom, faultFrom));
  report.figure('  waited_ms with faults p50 / p99 / max', waits(faultFrom, faultUntil));
  if (singleKeyChanges.length > 0) {
    report.figure('additions and deletions of keys', countKinds(singleKeyChanges.map(({ outcome }) => outcome)));
  }
}

/** How many single keys were deleted, and how many expired that nobody had tried to delete. */
export function endsOf({ singleKeys }: History): [deleted: number, expired: number] {
  const deleted = singleKeys.filter(({ deletedAt }) => deletedAt !== undefined);
  const expired = singleKeys.filter(({ deletionSentAt }) => deletionSentAt === undefined);
  return [deleted.length, expired.length];
}

export const isAt = (from: number, until: number) => (one: Pick<Invocation, 'startedAt' | 'endedAt'>) =>
  one.startedAt >= from && one.endedAt < until;

const failedIn = ({ verdict, quietFrom, endedAt }: Noted & Span) =>
  verdict.failedValid.filter(({ invocation }) => isAt(quietFrom, endedAt)(invocation));

/** How long after everything was right the last valid invocation failed that began after that. */
function recoveryMsOf(seen: Noted & Span): number {
  const { faultUntil } = seen;
  const late = failedIn(seen).filter(({ invocation }) => invocation.startedAt >= faultUntil);
  return Math.max(0, ...late.map(({ invocation }) => invocation.endedAt - faultUntil));
}
