import { readFile } from 'node:fs/promises';
import { openHttpClient } from '@sluice/testing';
import { type Node, startNode } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { checkHistory, type Finding } from '../coherence/check-history.ts';
import { openClient } from '../coherence/client.ts';
import { excerpt } from '../coherence/excerpt.ts';
import type { History } from '../coherence/history.ts';
import { signInsOf } from '../coherence/sign-ins.ts';
import type { FaultContext } from '../faults/fault-test.ts';
import { startPlatform } from '../platform.ts';
import { inPlace, type Mutant, mutants } from './mutants.ts';
import { type Scenario, scenarioOf, scenarios } from './scenarios.ts';

/** A scenario may need several attempts: its timing varies. */
const mostAttempts = 6;

/**
 * Shows that the checker would find what it looks for: with each part of the protocol switched off it must, and with the
 * same scenarios against the product as it is it must not.
 */
export async function runWeakened(context: FaultContext): Promise<void> {
  const { report, log, signal } = context;
  await using stack = new AsyncDisposableStack();
  const site = await startPlatform(stack, { ...context, processes: {} });
  for (const mutant of mutants) {
    signal?.throwIfAborted();
    const attempts = Array<Scenario>(mostAttempts).fill(scenarioOf(mutant));
    const { findings, history } = await tryScenarios(context, site, attempts, mutant);
    const [finding] = findings;
    if (finding) log(`${mutant.name}:\n${excerpt(finding, history)}`);
    report.failIf(!finding, `${mutant.name} was not found out in ${mostAttempts} attempts`);
  }
  const whole = await tryScenarios(context, site, scenarios);
  const inWords = (finding: Finding) => `the product as it is broke its promise:\n${excerpt(finding, whole.history)}`;
  report.failForEach(whole.findings, inWords);
}

const preload = new URL('./mutate.preload.ts', import.meta.url);

/** Longer than any response in a scenario that is not held back until its end. */
const patienceMs = () => 1500;

/**
 * Plays scenarios with a writer, a gateway and a vault of its own, one after the other, until the checker finds something; it looks
 * for the same as in every other history.
 * @param mutant absent for the product as it is.
 */
async function tryScenarios(
  { seed, report }: FaultContext,
  site: Site,
  attempts: readonly Scenario[],
  mutant?: Mutant,
): Promise<{ findings: Finding[]; history: History }> {
  const startedAt = performance.now();
  await using stack = new AsyncDisposableStack();
  const environment: Record<string, string> = mutant
    ? { NODE_OPTIONS: `--import=${preload.href}?mutant=${mutant.name}` }
    : {};
  const start = (service: 'management-api' | 'proxy-gateway' | 'token-vault', number: number) => {
    const name = `${service}-${mutant?.name ?? 'whole'}`;
    return startNode(site, { name, service, seed: seed + number, environment }, stack);
  };
  const nodes = [start('management-api', 0), start('proxy-gateway', 10), start('token-vault', 20)] as const;
  const [management, gateway, vault] = await Promise.all(nodes);
  if (mutant) await assertInPlace(mutant, [management, gateway, vault]);
  const client = await openClient({ site, management, applications: attempts.length, patienceMs }, stack);
  const managementKey = site.credentials.management_key;
  const signIns = await signInsOf({ http: openHttpClient(stack), management, managementKey });
  let findings: Finding[] = [];
  let played = 0;
  for (const application of client.applications) {
    await attempts[played]?.({ client, application, management, gateway, vault, signIns });
    played += 1;
    for (const proxy of [gateway.postgres, gateway.redis]) proxy.calm();
    findings = [client, signIns].flatMap((noted) => findingsIn(noted.history()));
    if (findings.length > 0) break;
  }
  const histories = [client.history(), signIns.history()];
  const history = histories.find((each) => findingsIn(each).length > 0) ?? client.history();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const invocations = histories.reduce((sum, each) => sum + each.invocations.length, 0);
  const tried = `${invocations} invocations, ${played} scenarios, ${seconds} s`;
  report.figure(mutant?.name ?? 'the product as it is', `${findings.length} violations (${tried})`);
  return { findings, history };
}

function findingsIn(history: History): Finding[] {
  const { staleAccepts, wrongRefusals } = checkHistory(history);
  return [...staleAccepts, ...wrongRefusals];
}

/** A mutant that was never loaded would prove nothing. */
async function assertInPlace({ name }: Mutant, nodes: readonly Node[]): Promise<void> {
  for (const { logFile } of nodes) {
    if ((await readFile(logFile, 'utf8')).includes(inPlace(name))) return;
  }
  throw new Error(`Mutant ${name} was not loaded by any process`);
}
