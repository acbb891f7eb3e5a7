import { excerpt } from '../coherence/excerpt.ts';
import type { FaultContext, FaultResult } from '../faults/fault-test.ts';
import { startPlatform } from '../platform.ts';
import { mutants } from './mutants.ts';
import { scenarioOf, scenarios } from './scenarios.ts';
import { type Trial, tryScenarios } from './try-scenarios.ts';

/** A scenario needs some luck: what it disturbs is not asked when. */
const mostAttempts = 6;

/**
 * Shows that the checker would find what it looks for: with each part of the protocol switched off it must, and with the
 * same scenarios against the product as it is it must not.
 */
export async function runWeakened(context: FaultContext): Promise<FaultResult> {
  const { seed, log, signal } = context;
  await using stack = new AsyncDisposableStack();
  const site = await startPlatform(stack, { ...context, processes: [] });
  const figures: FaultResult['figures'] = [['seed', String(seed)]];
  const failures: string[] = [];
  const note = (name: string, { findings, played, history }: Trial, startedAt: number) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const tried = `${history.invocations.length} invocations, ${played} scenarios, ${seconds} s`;
    figures.push([name, `${findings.length} violations (${tried})`]);
  };

  for (const mutant of mutants) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const attempts = Array.from({ length: mostAttempts }, () => scenarioOf[mutant.name] ?? scenarios[0]);
    const trial = await tryScenarios({ site, scenarios: attempts.filter((one) => one !== undefined), mutant, seed });
    note(mutant.name, trial, startedAt);
    const [finding] = trial.findings;
    if (finding) log(`${mutant.name}:\n${excerpt(finding, trial.history)}`);
    else failures.push(`${mutant.name} was not found out in ${trial.played} attempts`);
  }
  const startedAt = performance.now();
  const whole = await tryScenarios({ site, scenarios, seed });
  note('the product as it is', whole, startedAt);
  for (const finding of whole.findings.slice(0, 3)) {
    failures.push(`the product as it is broke its promise:\n${excerpt(finding, whole.history)}`);
  }
  return { figures, failures };
}
