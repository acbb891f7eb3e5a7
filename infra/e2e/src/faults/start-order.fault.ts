import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { migrateDatabase, type ServiceName } from '@sluice/local/parts';
import { waitUntil } from '@sluice/testing';
import { type Node, startNode } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { freezeStore, killStore } from '../cluster/stores.ts';
import { startPlatform } from '../platform.ts';
import { elapsedMs } from '../under-load/count.ts';
import type { FaultContext, FaultTest } from './fault-test.ts';

const services: readonly ServiceName[] = ['management-api', 'proxy-gateway', 'token-vault', 'worker'];
/** One that caches, and one that has jobs; a signal for each. */
const stopped: readonly ServiceName[] = ['proxy-gateway', 'worker'];

/** Within which a process has started, on a machine that has other things to do. */
const startsWithinMs = 20_000;
/** How long it then waits: enough for repeated log lines. */
const waitingMs = 3000;
const readyWithinMs = 5000;
/** How often a process that waits may say the same in all that time. */
const mostTold = 3;
/** Retries are frequent, so that logging each of them is noticed. */
const repeating = { SWEEP_INTERVAL_MS: '500' };
/** A process that only waits has nothing to drain, whatever the drain time. */
const stopsWithinMs = 5000;

interface Situation {
  name: string;
  /** The part that `/readyz` names; undefined where the services can do without what is away. */
  missing: 'postgres' | undefined;
  says: RegExp;
  mend(): Promise<unknown>;
}

async function run(context: FaultContext): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const site = await startPlatform(stack, { ...context, processes: {} });
  const { stores } = site;

  await Promise.all([killStore(site, 'postgres'), killStore(site, 'redis')]);
  await observe(site, context, {
    name: 'no store; Postgres comes last',
    missing: 'postgres',
    says: /postgres.*DATABASE_URL/,
    mend: () => stores.restart('redis').then(() => stores.restart('postgres')),
  });

  await killStore(site, 'redis');
  await observe(site, context, {
    name: 'no Redis',
    missing: undefined,
    says: /Redis is away.*REDIS_URL/,
    mend: () => stores.restart('redis'),
  });

  const empty = await createEmptyDatabase(site);
  await observe(empty, context, {
    name: 'a database that is not migrated',
    missing: 'postgres',
    says: /the database is not migrated.*npm run migrate/,
    mend: () => migrateDatabase(empty.settings.databaseUrl),
  });

  const frozen = await freezeStore(site, 'postgres');
  stack.defer(() => frozen.thaw());
  await observe(site, context, {
    name: 'Postgres hangs',
    missing: 'postgres',
    says: /postgres.*DATABASE_URL/,
    mend: () => frozen.thaw(),
  });
}

/** All services start and wait, and come to be ready; others of them are asked to stop while they wait. */
async function observe(site: Site, context: FaultContext, situation: Situation): Promise<void> {
  const { name, missing, mend } = situation;
  const { log, report, signal, seed } = context;
  const failIf: FailIf = (isWrong, what) => report.failIf(isWrong, `${name}: ${what}`);
  log(name);
  await using stack = new AsyncDisposableStack();
  const start = (kind: string, some: readonly ServiceName[], more: Record<string, string>) => {
    const environment = { ...repeating, ...more };
    const named = (service: ServiceName) => `${service}-${kind}-${name.replaceAll(/\W+/g, '-')}`;
    return Promise.all(
      some.map((service, index) =>
        startNode(site, { name: named(service), service, seed: seed + index, waits: false, environment }, stack),
      ),
    );
  };
  const staying = await start('stays', services, {});
  const stopping = await start('stops', missing ? stopped : [], { SHUTDOWN_DRAIN_MS: '8000' });
  for (const node of [...staying, ...stopping]) {
    const hasAnswered = async () => node.pid === undefined || (await readiness(node)).status !== 0;
    failIf(!(await waitUntil(hasAnswered, startsWithinMs, signal)), `${node.name} does not answer`);
  }
  await wait(waitingMs, undefined, { ...(signal && { signal }) });
  for (const node of staying) await lookAt(node, situation, failIf);
  const stopsMs = await Promise.all(
    stopping.map((node, at) => stop(node, at % 2 === 0 ? 'SIGTERM' : 'SIGINT', failIf)),
  );

  await mend();
  const readyMs = await Promise.all(
    staying.map((node) =>
      elapsedMs(async () => {
        const isReady = async () => (await readiness(node)).status === 200;
        failIf(!(await waitUntil(isReady, readyWithinMs, signal)), `${node.name} did not become ready`);
      }),
    ),
  );
  const late = readyMs.filter((ms) => ms > readyWithinMs).length;
  failIf(late > 0, `${late} services became ready too late`);
  const lines = await Promise.all(staying.map(async (node) => (await readLines(node)).length));
  const inSeconds = (all: readonly number[]) => (all.length > 0 ? `${(Math.max(...all) / 1000).toFixed(2)} s` : '-');
  const told = `${lines.join(', ')} lines; stops took ${inSeconds(stopsMs)}`;
  report.figure(name, `ready after ${inSeconds(readyMs)}, ${told}`);
}

type FailIf = (isWrong: boolean, what: string) => void;

async function lookAt(node: Node, { missing, says }: Situation, failIf: FailIf): Promise<void> {
  if (node.pid === undefined) return failIf(true, `${node.name} has exited`);
  const { status, body } = await readiness(node);
  failIf(missing === undefined && status !== 200, `${node.name} is not ready: ${body}`);
  failIf(missing !== undefined && status !== 503, `${node.name} says that it is ready`);
  failIf(missing !== undefined && !body.includes(`"${missing}"`), `${node.name} does not name it: ${body}`);
  const lines = await readLines(node);
  failIf(!lines.some((line) => says.test(line)), `${node.name} does not say what it waits for (${says})`);
  for (const [what, all] of Map.groupBy(lines, gistOf)) {
    failIf(all.length > mostTold, `${node.name} says ${all.length} times: ${what}`);
  }
}

/** What a line says, without its time and its details. */
function gistOf(line: string): string {
  if (!line.startsWith('{')) return line; // of Node.js itself
  const { msg, sweep } = JSON.parse(line);
  return sweep ? `${msg} (${sweep})` : msg;
}

async function readiness({ adminUrl }: Node): Promise<{ status: number; body: string }> {
  try {
    const answer = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(4000) });
    return { status: answer.status, body: await answer.text() };
  } catch (error) {
    return { status: 0, body: String(error) }; // no answer is one that is judged
  }
}

async function stop(node: Node, signal: 'SIGTERM' | 'SIGINT', failIf: FailIf): Promise<number> {
  const startedAt = performance.now();
  const code = await node.stop(signal);
  const ms = performance.now() - startedAt;
  failIf(code !== 0, `${node.name} ended with ${code ?? 'SIGKILL'} after ${signal}`);
  failIf(ms > stopsWithinMs, `${node.name} took ${Math.round(ms)} ms to stop while it waited`);
  return ms;
}

async function readLines({ logFile }: Node): Promise<string[]> {
  return (await readFile(logFile, 'utf8')).split('\n').filter((line) => line !== '');
}

/** The same site on a database of the same server that has no tables. */
async function createEmptyDatabase(site: Site): Promise<Site> {
  await site.query('create database empty');
  const databaseUrl = new URL('/empty', site.settings.databaseUrl).href;
  return { ...site, settings: { ...site.settings, databaseUrl } };
}

export const startOrder: FaultTest = {
  name: 'start-order',
  description: 'services are there before Postgres, Redis or the tables: they say what they wait for, and become ready',
  run,
};
