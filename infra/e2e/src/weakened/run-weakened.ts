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
import { type Scenario, type Scene, scenarioOf } from './scenarios.ts';

/** A scenario may need several attempts: its timing varies. */
const mostAttempts = 6;

/** A writer, a gateway and a vault, of which one may be weakened. */
type Nodes = Pick<Scene, 'management' | 'gateway' | 'vault'>;

/**
 * Shows that the checker would find what it looks for: with each of these parts of the protocol switched off it must, and
 * with the same scenarios against the product as it is it must not.
 */
export async function runWeakened(context: FaultContext, weakened = mutants): Promise<void> {
  const { report, log, signal } = context;
  await using stack = new AsyncDisposableStack();
  const site = await startPlatform(stack, {
    ...context,
    processes: { 'management-api': 1, 'proxy-gateway': 1, 'token-vault': 1 },
  });
  const nodes: Nodes = {
    management: site.inTurn('management-api', 0),
    gateway: site.inTurn('proxy-gateway', 0),
    vault: site.inTurn('token-vault', 0),
  };
  for (const mutant of weakened) {
    signal?.throwIfAborted();
    const attempts = Array<Scenario>(mostAttempts).fill(scenarioOf(mutant));
    const { findings, history } = await tryMutant(context, { site, nodes, attempts, mutant });
    const [finding] = findings;
    if (finding) log(`${mutant.name}:\n${excerpt(finding, history)}`);
    report.failIf(!finding, `${mutant.name} was not found out in ${mostAttempts} attempts`);
  }
  const whole = await tryScenarios(context, { site, nodes, attempts: [...new Set(weakened.map(scenarioOf))] });
  const inWords = (finding: Finding) => `the product as it is broke its promise:\n${excerpt(finding, whole.history)}`;
  report.failForEach(whole.findings, inWords);
}

const preload = new URL('./mutate.preload.ts', import.meta.url);

/** Longer than any response in a scenario that is not held back until its end. */
const patienceMs = 1500;

interface Trial {
  site: Site;
  nodes: Nodes;
  attempts: readonly Scenario[];
  /** Absent for the product as it is. */
  mutant?: Mutant;
}

interface Outcome {
  findings: Finding[];
  history: History;
}

const placeOf = { 'management-api': 'management', 'proxy-gateway': 'gateway', 'token-vault': 'vault' } as const;

/** Starts the process that the mutant weakens, in the place of one of the nodes. */
async function tryMutant(context: FaultContext, trial: Trial & { mutant: Mutant }): Promise<Outcome> {
  const { site, nodes, mutant } = trial;
  const { name, service } = mutant;
  await using stack = new AsyncDisposableStack();
  const environment = { NODE_OPTIONS: `--import=${preload.href}?mutant=${name}` };
  const node = await startNode(site, { name: `${service}-${name}`, service, seed: context.seed, environment }, stack);
  await assertInPlace(mutant, node);
  return await tryScenarios(context, { ...trial, nodes: { ...nodes, [placeOf[service]]: node } });
}

/**
 * Plays scenarios one after the other, until the checker finds something; it looks for the same as in every other
 * history.
 */
async function tryScenarios({ report }: FaultContext, { site, nodes, attempts, mutant }: Trial): Promise<Outcome> {
  const startedAt = performance.now();
  await using stack = new AsyncDisposableStack();
  const { management, gateway } = nodes;
  const client = await openClient({ site, management, patienceMs }, stack);
  const managementKey = site.credentials.management_key;
  const signIns = await signInsOf({ http: openHttpClient(stack), management, managementKey });
  let findings: Finding[] = [];
  let played = 0;
  for (const application of await client.createApplications(attempts.length)) {
    await attempts[played]?.({ client, application, signIns, ...nodes });
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
async function assertInPlace({ name }: Mutant, node: Node): Promise<void> {
  if ((await readFile(node.logFile, 'utf8')).includes(inPlace(name))) return;
  throw new Error(`Mutant ${name} was not loaded by ${node.name}`);
}
