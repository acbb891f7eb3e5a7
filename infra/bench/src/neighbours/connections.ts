import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type Stack } from '@sluice/local';
import type { Benchmark, BenchmarkContext, Comparison, Outcome, PathFigures } from '../benchmark.ts';
import { startDestination } from '../destination/destination.ts';
import { percentile } from '../report/statistics.ts';
import { type ApiRequest, send } from '../stack/api-client.ts';
import { type BenchmarkStack, pidOf, startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { attackDuring, untilIdle } from './attack-during.ts';
import { everything, mergePatch, prepareAttacks } from './connection-attacks.ts';

export const connectionNeighbours: Benchmark = {
  id: 'P14-STORES',
  name: 'neighbours',
  work: "p99 of one Tenant's creations, changes and invocations while another fills its share of connections",
  goal: 'none of them fails, and /readyz stays 200',
  peerName: 'the same Tenant alone',
  run: measureConnections,
};

type ServiceName = keyof Stack['serviceUrls'];

/** What the good Tenant sends, or a balancer asks, one at a time. */
interface Asked {
  name: string;
  service: ServiceName;
  request(): Omit<ApiRequest, 'signal'>;
}

const programs = {
  managementApi: 'management-api',
  tokenVault: 'token-vault',
  proxyGateway: 'proxy-gateway',
} as const;

/** A balancer and a Tenant ask no faster. */
const pauseMs = 20;
const fillsMs = 1000;

/** Each kind of request alone and during each attack. A failure of any is an error. */
async function measureConnections(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const port = await freePort();
  await startDestination(context, { port }, opened);
  const stack = await startBenchmarkStack('token-vault', context, opened);
  const asked = await prepareAsked(stack, `http://127.0.0.1:${port}`, signal);
  const attacks = await prepareAttacks(stack, signal);
  const emptyPaths = (beside: string, some: readonly Asked[]) =>
    some.map((one) => ({ one, path: { name: `${one.name}${beside}`, rounds: [] } as PathFigures }));
  const alone = emptyPaths('', asked);
  const rows = attacks.map((attack) => {
    const some = asked.filter(({ service, name }) => service === attack.service || name === invocation);
    return { attack, paths: emptyPaths(`; beside ${attack.name}`, some) };
  });
  const notes: string[] = [];

  async function measure(paths: typeof alone): Promise<void> {
    await Promise.all(
      paths.map(async ({ one, path }) => {
        const { line, ...figures } = await ask(one, seconds, signal);
        path.rounds.push(figures);
        const told = `${path.name}: ${line}`;
        notes.push(told);
        log(`  ${told}`);
      }),
    );
  }

  await Promise.all(asked.map((one) => ask(one, seconds, signal)));
  for (let round = 1; round <= rounds; round += 1) {
    await measure(alone);
    for (const { attack, paths } of rows) {
      const { service, ...hostile } = attack;
      const answers = await attackDuring(context, hostile, async () => {
        await sleep(fillsMs, undefined, { signal });
        await measure(paths);
      });
      log(`    answers ${JSON.stringify(answers)}`);
      notes.push(`${attack.name}: answers ${JSON.stringify(answers)}`);
      await untilIdle(pidOf(stack, programs[service]), signal);
    }
  }
  const p99 = ({ rounds }: PathFigures) => rounds.map(({ p99Ms }) => p99Ms);
  const comparisons = rows.flatMap(({ paths }) =>
    paths.map(({ one, path }): Comparison => {
      const peer = p99(alone.find((own) => own.one === one)?.path ?? path);
      const errors = path.rounds.reduce((sum, figures) => sum + figures.errors, 0);
      return { unit: 'ms', ours: p99(path), peer, peerName: `alone; ${path.name}`, errors };
    }),
  );
  return { comparisons, paths: [], notes };
}

const invocation = 'an invocation';

async function prepareAsked(stack: BenchmarkStack, destination: string, signal: AbortSignal): Promise<Asked[]> {
  const good = await createTenant(stack, signal, everything);
  const { managementApi, tokenVault, proxyGateway } = stack.serviceUrls;
  const json = { 'Content-Type': 'application/json' };
  const use = { 'SVC-API-KEY': good.apiKey, ...json };
  const manage = { 'SVC-API-KEY': stack.credentials.management_key, ...json };
  const [token] = await good.createTokens(1);
  const application = { id: good.applicationId };
  const code = 'module.exports = async ({ svc }) => { await svc.tokenize(["one"]); return {} }';
  const plain = await good.createProxy(destination);
  const tokenizing = await good.createProxy(destination, { application, request_transform: { code } });
  const invoke = (name: string, proxyKey: string): Asked => {
    const request = { url: `${proxyGateway}/proxy`, headers: { ...use, 'SVC-PROXY-KEY': proxyKey }, body: '{}' };
    return { name, service: 'proxyGateway', request: () => request };
  };
  const asked: Asked[] = [
    {
      ...{ name: 'POST /tokens', service: 'tokenVault' },
      request: () => ({ url: `${tokenVault}/tokens`, headers: use, body: JSON.stringify({ data: randomUUID() }) }),
    },
    {
      ...{ name: 'PATCH /tokens/{id}', service: 'tokenVault' },
      request: () => ({
        ...{ url: `${tokenVault}/tokens/${token}`, method: 'PATCH', headers: { ...use, ...mergePatch } },
        body: JSON.stringify({ metadata: { at: randomUUID() } }),
      }),
    },
    {
      ...{ name: 'POST /applications', service: 'managementApi' },
      request: () => ({
        ...{ url: `${managementApi}/applications`, headers: manage },
        body: JSON.stringify({ name: 'Another', type: 'private', permissions: ['token:create'] }),
      }),
    },
    invoke(invocation, plain),
    invoke('an invocation with svc.tokenize', tokenizing),
    ...Object.entries(stack.adminUrls).map(([service, url]): Asked => {
      const request = { url: `${url}/readyz`, headers: {} };
      return { name: `/readyz of ${service}`, service: service as ServiceName, request: () => request };
    }),
  ];
  // A benchmark of refusals would mean nothing.
  for (const { name, request } of asked) {
    const { status, body } = await send({ ...request(), signal });
    if (status > 299) throw new Error(`${name} was answered with ${status}: ${body.slice(0, 300)}`);
  }
  return asked;
}

/** Sends one kind of request for so long, one after the other. */
async function ask({ request }: Asked, seconds: number, signal: AbortSignal) {
  const [times, answers]: [number[], Record<string, number>] = [[], {}];
  const begunAt = performance.now();
  while (performance.now() - begunAt < 1000 * seconds) {
    const { status, tookMs } = await send({ ...request(), signal });
    answers[status] = (answers[status] ?? 0) + 1;
    times.push(tookMs);
    await sleep(pauseMs, undefined, { signal });
  }
  const errors = Object.entries(answers).reduce((sum, [status, count]) => sum + (status < '300' ? 0 : count), 0);
  const [p50Ms, p99Ms, maxMs] = [50, 99, 100].map((part) => percentile(times, part)) as [number, number, number];
  const ms = [p50Ms, p99Ms, maxMs].map((value) => value.toFixed(1)).join(', ');
  return {
    ...{ requestsPerSecond: times.length / seconds, p50Ms, p99Ms, errors },
    line: `p50, p99, longest ${ms} ms; answers ${JSON.stringify(answers)}`,
  };
}
