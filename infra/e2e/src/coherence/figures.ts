import { countBy } from '../under-load/count.ts';
import type { Finding, Verdict } from './check-history.ts';
import type { Fault, History, Regeneration } from './history.ts';

/** When what began and ended. */
export interface Phases {
  startedAt: number;
  /** From here on something failed. */
  nemesisFrom: number;
  nemesisUntil: number;
  endedAt: number;
}

/** The table that is shown for a run. */
export function figuresOf(history: History, verdict: Verdict, phases: Phases): [string, string][] {
  const { regenerations, invocations, faults } = history;
  const confirmed = regenerations.filter(({ outcome }) => outcome === 'confirmed');
  const quiet = confirmed.filter(({ endedAt }) => endedAt < phases.nemesisFrom);
  const disturbed = confirmed.filter(
    ({ startedAt, endedAt }) => endedAt >= phases.nemesisFrom && startedAt < phases.nemesisUntil,
  );
  const seconds = (from: number, until: number) => `${((until - from) / 1000).toFixed(1)} s`;
  return [
    [
      'duration, of it quiet / with faults',
      `${seconds(phases.startedAt, phases.endedAt)}, ${seconds(phases.startedAt, phases.nemesisFrom)} / ${seconds(phases.nemesisFrom, phases.nemesisUntil)}`,
    ],
    ['operations', String(regenerations.length + history.singleKeyChanges.length + invocations.length)],
    ['invocations, of them judged', `${invocations.length}, ${verdict.judged}`],
    ['regenerations', String(regenerations.length)],
    ['  confirmed', String(confirmed.length)],
    [
      '  indeterminate',
      countBy(
        regenerations.filter((one) => one.outcome === 'indeterminate'),
        ({ detail }) => detail,
      ),
    ],
    ['single keys deleted, expired', endsOf(history).join(', ')],
    ['  additions and deletions', countBy(history.singleKeyChanges, ({ outcome }) => outcome)],
    ['faults', countBy(faults, ({ name }) => name)],
    ['stale accepts S', String(verdict.staleAccepts.length)],
    ['wrong refusals', String(verdict.wrongRefusals.length)],
    ['failed valid requests E', countBy(verdict.failedValid, ({ invocation }) => invocation.detail)],
    ['recovery R after the last fault', seconds(phases.nemesisUntil, lastFailure(verdict, phases))],
    ['waited_ms quiet p50 / p99 / max', waits(quiet)],
    ['waited_ms with faults p50 / p99 / max', waits(disturbed)],
  ];
}

/** How many single keys were deleted, and how many expired that nobody had tried to delete. */
export function endsOf({ singleKeys }: History): [deleted: number, expired: number] {
  const deleted = singleKeys.filter(({ deletedAt }) => deletedAt !== undefined);
  const expired = singleKeys.filter(({ deletionSentAt }) => deletionSentAt === undefined);
  return [deleted.length, expired.length];
}

/** When the last valid invocation failed that began after the last fault had been put right. */
function lastFailure({ failedValid }: Verdict, { nemesisUntil }: Phases): number {
  const late = failedValid.filter(({ invocation }) => invocation.startedAt > nemesisUntil);
  return Math.max(nemesisUntil, ...late.map(({ invocation }) => invocation.endedAt));
}

function waits(regenerations: readonly Regeneration[]): string {
  const sorted = regenerations.map(({ confirmation }) => confirmation?.waitedMs ?? NaN).sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? '-';
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} ms (${sorted.length})`;
}

/** What happened around an invocation that went wrong: the regenerations of its Application, and the faults. */
export function excerpt({ invocation, life }: Finding, { regenerations, singleKeyChanges, faults }: History): string {
  const from = Math.min(life.revokedAt, invocation.startedAt) - 1000;
  const isNear = (one: { startedAt: number; endedAt: number }) =>
    one.endedAt > from && one.startedAt < invocation.endedAt;
  const time = (at: number) => (at - from).toFixed(1).padStart(9);
  const span = (one: { startedAt: number; endedAt: number }) => `${time(one.startedAt)} –${time(one.endedAt)} ms`;
  const events: { at: number; text: string }[] = [
    ...regenerations
      .filter((one) => one.application === invocation.application && isNear(one))
      .map((one) => ({ at: one.startedAt, text: `${span(one)}  regeneration ${describe(one)}` })),
    ...singleKeyChanges
      .filter((one) => one.application === invocation.application && isNear(one))
      .map((one) => ({ at: one.startedAt, text: `${span(one)}  addition or deletion of key ${describe(one)}` })),
    ...faults
      .filter(isNear)
      .map((one: Fault) => ({ at: one.startedAt, text: `${span(one)}  ${one.name} on ${one.target}` })),
    {
      at: invocation.startedAt,
      text: `${span(invocation)}  INVOCATION of ${invocation.target} with key ${invocation.key}: ${invocation.detail}, ${invocation.outcome}`,
    },
  ];
  return events
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => `    ${text}`)
    .join('\n');
}

function describe({ number, outcome, detail, confirmation }: Regeneration): string {
  const how = confirmation
    ? `change ${confirmation.changeId}, ${confirmation.holders} holders, waited ${confirmation.waitedMs} ms`
    : detail;
  return `${number} ${outcome} (${how})`;
}
