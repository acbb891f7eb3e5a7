import type { Finding } from './check-history.ts';
import type { Fault, History, Regeneration } from './history.ts';

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
