import { readFile } from 'node:fs/promises';
import { type Node, startNode } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { checkHistory, type Finding } from '../coherence/check-history.ts';
import { openClient } from '../coherence/client.ts';
import type { History } from '../coherence/history.ts';
import { inPlace, type Mutant } from './mutants.ts';
import type { Scenario } from './scenarios.ts';

export interface Trial {
  /** What the checker found; it looks for the same as in every other history. */
  findings: Finding[];
  history: History;
  /** How many scenarios were played. */
  played: number;
}

export interface TrialOptions {
  site: Site;
  /** One after the other, until the checker finds something. */
  scenarios: readonly Scenario[];
  /** Absent for the product as it is. */
  mutant?: Mutant;
  seed: number;
}

const preload = new URL('./mutate.preload.ts', import.meta.url);

/** More than an answer takes in a scenario, other than one that is held back until the scenario ends. */
const patienceMs = () => 1500;

/** Plays scenarios with a writer and a gateway of its own. */
export async function tryScenarios({ site, scenarios, mutant, seed }: TrialOptions): Promise<Trial> {
  await using stack = new AsyncDisposableStack();
  const environment: Record<string, string> = mutant
    ? { NODE_OPTIONS: `--import=${preload.href}?mutant=${mutant.name}` }
    : {};
  const start = (service: 'management-api' | 'proxy-gateway', number: number) =>
    startNode(
      site,
      { name: `${service}-${mutant?.name ?? 'whole'}`, service, seed: seed + number, environment },
      stack,
    );
  const [management, gateway] = await Promise.all([start('management-api', 0), start('proxy-gateway', 10)]);
  if (mutant) await assertInPlace(mutant, [management, gateway]);
  const client = await openClient({ site, management, applications: scenarios.length, patienceMs }, stack);
  const trial: Trial = { findings: [], history: client.history(), played: 0 };
  for (const application of client.applications) {
    await scenarios[trial.played]?.({ client, application, management, gateway });
    for (const proxy of [gateway.postgres, gateway.redis]) proxy.calm();
    const history = client.history();
    const { staleAccepts, wrongRefusals } = checkHistory(history);
    Object.assign(trial, { findings: [...staleAccepts, ...wrongRefusals], history, played: trial.played + 1 });
    if (trial.findings.length > 0) break;
  }
  return trial;
}

/** A mutant that was never loaded would prove nothing. */
async function assertInPlace({ name }: Mutant, nodes: readonly Node[]): Promise<void> {
  for (const { logFile } of nodes) {
    if ((await readFile(logFile, 'utf8')).includes(inPlace(name))) return;
  }
  throw new Error(`Mutant ${name} was not loaded by any process`);
}
