import type { Finding } from './check-history.ts';
import type { History, Regeneration } from './history.ts';

type Span = Pick<Regeneration, 'startedAt' | 'endedAt'>;

/** What happened around an invocation that went wrong: the regenerations of its Application, and the faults. */
export function excerpt({ invocation, life }: Finding, { regenerations, singleKeyChanges, faults }: History): string {
  const from = Math.min(life.revokedAt, invocation.startedAt) - 1000;
  const isNear = (one: Span) => one.endedAt > from && one.startedAt < invocation.endedAt;
  const isOfIt = (one: Regeneration) => one.application === invocation.application;
  const time = (at: number) => (at - from).toFixed(1).padStart(9);
  const { target, key, detail, outcome } = invocation;
  return [
    ...regenerations.filter(isOfIt).map((one) => [one, `regeneration ${describe(one)}`] as const),
    ...singleKeyChanges.filter(isOfIt).map((one) => [one, `addition or deletion of key ${describe(one)}`] as const),
    ...faults.map((one) => [one, `${one.name} on ${one.target}`] as const),
    [invocation, `INVOCATION of ${target} with key ${key}: ${detail}, ${outcome}`] as const,
  ]
    .filter(([one]) => isNear(one) || one === invocation)
    .sort(([a], [b]) => a.startedAt - b.startedAt)
    .map(([one, what]) => `    ${time(one.startedAt)} –${time(one.endedAt)} ms  ${what}`)
    .join('\n');
}

function describe({ number, outcome, detail, confirmation }: Regeneration): string {
  const how = confirmation
    ? `change ${confirmation.changeId}, ${confirmation.holders} holders, waited ${confirmation.waitedMs} ms`
    : detail;
  return `${number} ${outcome} (${how})`;
}
