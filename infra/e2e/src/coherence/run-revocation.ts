import { setTimeout as wait } from 'node:timers/promises';
import type { FaultContext, FaultResult } from '../faults/fault-test.ts';
import { createRandom } from '../random.ts';
import { checkHistory, type Finding, type Verdict } from './check-history.ts';
import { type Client, openClient } from './client.ts';
import { endsOf, excerpt, figuresOf, type Phases } from './figures.ts';
import type { History } from './history.ts';
import { type Load, startLoad } from './load.ts';
import { startNemesis } from './nemesis.ts';
import { type Cluster, startCluster } from './start-cluster.ts';

export interface RevocationOptions extends FaultContext {
  /** At least so many successes. */
  regenerations: number;
  /** How long nothing fails, before and after. */
  quietMs: number;
  /** How long things fail, at least. */
  nemesisMs: number;
  /** After which it ends, and has failed if there were too few regenerations. */
  limitMs: number;
}

const applications = 12;
const severalKeys = 4;
const readers = 20;
const shownExcerpts = 3;

/**
 * Regenerates keys, adds, deletes and lets expire single ones, and uses valid, revoked and expired ones everywhere while a
 * nemesis disturbs the system, and judges what was seen: nothing may be accepted that began after the success which revoked its key had arrived.
 */
export async function runRevocation(options: RevocationOptions): Promise<FaultResult> {
  const { seed, log } = options;
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const cluster = await startCluster(options, stack);
  const [management] = cluster.writers;
  if (!management) throw new Error('There is no writer');
  const random = createRandom(seed);
  const patienceMs = () => random.between(1000, 8000);
  const client = await openClient({ site: cluster.site, management, applications, severalKeys, patienceMs }, stack);
  const { phases, history } = await disturbedHistory(cluster, client, options);
  const verdict = checkHistory(history);
  return {
    figures: [['seed', String(seed)], ...figuresOf(history, verdict, phases)],
    failures: [...tooFew(client, history, options), ...failuresOf(history, verdict, phases)],
  };
}

/** First nothing fails, then the nemesis is at work until there were enough regenerations, then nothing fails again. */
async function disturbedHistory(cluster: Cluster, client: Client, options: RevocationOptions) {
  const { log, quietMs, seed } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, ...(options.signal ? [options.signal] : [])]);
  const { site, holders, writers } = cluster;
  const load = startLoad({ client, management: () => writers, targets: () => holders, readers, seed });
  const startedAt = performance.now();
  const quiet = () => Promise.race([wait(quietMs, undefined, { signal }), load.broken]);
  try {
    await quiet();
    log(`${countConfirmed(client)} regenerations while nothing failed; now faults`);
    const nemesisFrom = performance.now();
    const nemesis = startNemesis({ site, holders, writers, seed });
    try {
      await Promise.race([untilEnough(client, startedAt, { ...options, signal }), load.broken, nemesis.broken]);
    } finally {
      await nemesis.stop();
    }
    const nemesisUntil = performance.now();
    log(`${countConfirmed(client)} regenerations; no more faults`);
    await quiet();
    await load.stop();
    const phases: Phases = { startedAt, nemesisFrom, nemesisUntil, endedAt: performance.now() };
    return { phases, history: { ...client.history(), faults: [...nemesis.faults] } };
  } finally {
    ending.abort();
    await endLoad(load);
  }
}

const countConfirmed = ({ applications: all }: Client) => all.reduce((sum, { keys }) => sum + keys.size - 1, 0);

const secondsBetweenLines = 30;

/** Until there were faults for long enough and enough regenerations, or there is no more time. */
async function untilEnough(client: Client, startedAt: number, options: RevocationOptions): Promise<void> {
  const { regenerations, nemesisMs, limitMs, log, signal } = options;
  const from = performance.now();
  const isEnough = () => performance.now() > from + nemesisMs && countConfirmed(client) >= regenerations;
  for (let seconds = 1; !isEnough() && performance.now() < startedAt + limitMs; seconds++) {
    await wait(1000, undefined, { signal });
    if (seconds % secondsBetweenLines === 0) log(`${countConfirmed(client)} regenerations`);
  }
}

/** Clients that fail because everything ends are of no interest any more. */
async function endLoad(load: Load): Promise<void> {
  await load.stop().catch(() => undefined);
}

function tooFew(client: Client, history: History, { regenerations }: RevocationOptions): string[] {
  const confirmed = countConfirmed(client);
  const [deleted, expired] = endsOf(history);
  return [
    ...(confirmed < regenerations ? [`only ${confirmed} of ${regenerations} regenerations in the time there was`] : []),
    ...(deleted === 0 || expired === 0 ? [`${deleted} single keys were deleted and ${expired} expired`] : []),
  ];
}

/**
 * Eight processes that have just started and 32 clients at once: a connection to Postgres may come too late then, which is
 * an honest 503. What is accepted is judged from the first request on.
 */
const warmUpMs = 3000;

/** What must not have happened, in words. */
function failuresOf(history: History, verdict: Verdict, { startedAt, nemesisFrom }: Phases): string[] {
  const explain = (what: string, findings: readonly Finding[]) =>
    findings.slice(0, shownExcerpts).map((finding) => `${what}:\n${excerpt(finding, history)}`);
  const isQuiet = (one: { startedAt: number; endedAt: number }) =>
    one.startedAt > startedAt + warmUpMs && one.endedAt < nemesisFrom;
  const early = verdict.failedValid.filter(({ invocation }) => isQuiet(invocation));
  const unconfirmed = [...history.regenerations, ...history.singleKeyChanges].filter(
    (one) => isQuiet(one) && one.outcome !== 'confirmed',
  );
  return [
    ...explain(`a key was accepted after its revocation (${verdict.staleAccepts.length} times)`, verdict.staleAccepts),
    ...explain(`a valid key was refused (${verdict.wrongRefusals.length} times)`, verdict.wrongRefusals),
    ...explain(`a valid invocation failed while nothing did (${early.length} times)`, early),
    ...unconfirmed.map(({ detail }) => `a change of keys failed while nothing did: ${detail}`),
    ...verdict.unexplained.map(({ number }) => `change ${number} of keys was confirmed without SVC-REVOCATION`),
    ...verdict.overlong.map(
      (one) => `a change of keys waited ${one.confirmation?.waitedMs} ms, which is more than a lease`,
    ),
  ];
}
