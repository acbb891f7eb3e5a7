import { join } from 'node:path';
import type { BenchmarkContext, Comparison, Outcome, PathFigures } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { createTenant, type Tenant } from '../invocation/tenant.ts';
import { createListTenant } from '../lists/list-tenant.ts';
import { fixedRate } from '../load/fixed-rate.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { secondsOfRound } from '../load/round-seconds.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { type Attack, attacksWith } from './attacks.ts';

/** The rate of the good Tenant, far below a gateway's capacity, so that it waits only for others. */
const requestsPerSecond = 200;
/** Concurrent requests of the attacker. */
const atOnce = 24;

/** The 99th percentile of one Tenant's latency alone and during each attack of another, in the same rounds. */
export async function measureNeighbours(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const destinationUrl = `http://127.0.0.1:${echo.port}`;
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const attacker = await createListTenant(stack, join(directory, 'stack'), signal);
  const credentials = { ...stack.credentials, management_key: attacker.headers['SVC-API-KEY'] };
  const hostile = await createTenant({ ...stack, credentials }, signal);
  const good = await createTenant(stack, signal);
  const url = `${stack.serviceUrls.proxyGateway}/proxy`;
  const request = { url, headers: await headersOf(good, destinationUrl), body: '{"amount":100}' };
  const [token = ''] = await hostile.createTokens(1);
  const requests = await Promise.all(
    attacksWith(token).map(async (attack) => ({
      name: attack.name,
      body: attack.body,
      headers: await headersOf(hostile, destinationUrl, attack),
    })),
  );

  const steady = fixedRate(requestsPerSecond, directory);
  const alone: PathFigures = { name: 'alone', rounds: [] };
  const beside: PathFigures[] = requests.map(({ name }) => ({ name, rounds: [] }));
  await steady.run(request, secondsOfRound(0, seconds), signal);
  for (let round = 1; round <= rounds; round += 1) {
    const measure = async (path: PathFigures, run: () => Promise<LoadFigures>) => {
      const figures = await run();
      path.rounds.push(figures);
      log(`  round ${round}  ${path.name.padEnd(42)} p99 ${figures.p99Ms.toFixed(1)} ms`);
    };
    const steadily = () => steady.run(request, seconds, signal);
    await measure(alone, steadily);
    for (const [at, path] of beside.entries()) {
      const hostileRequest = requests[at];
      if (hostileRequest) await measure(path, () => runBeside(url, hostileRequest, steadily));
    }
  }
  return {
    comparisons: beside.flatMap((path) => compare(path, alone)),
    paths: [alone, ...beside],
    notes: [
      `the good Tenant sends ${steady.name}; the other keeps ${atOnce} requests under way`,
      'latency counts from the moment at which a request was due',
    ],
  };
}

async function headersOf(tenant: Tenant, destinationUrl: string, attack?: Attack): Promise<Record<string, string>> {
  const application = attack?.usesTokens ? { application: { id: tenant.applicationId } } : {};
  const parts = { ...application, ...attack?.proxy };
  return {
    'Content-Type': 'application/json',
    ...attack?.headers,
    'SVC-API-KEY': tenant.apiKey,
    'SVC-PROXY-KEY': await tenant.createProxy(destinationUrl, parts),
  };
}

interface HostileRequest {
  headers: Record<string, string>;
  body: Buffer;
}

/** Measures during the attack. Any answer to the attacker is fine, as long as there is one. */
async function runBeside(
  url: string,
  { headers, body }: HostileRequest,
  measure: () => Promise<LoadFigures>,
): Promise<LoadFigures> {
  let isOver = false;
  let answers = 0;
  const attack = async () => {
    while (!isOver) {
      const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
      await answer.arrayBuffer();
      answers += 1;
    }
  };
  const attackers = Array.from({ length: atOnce }, attack);
  const ended = Promise.allSettled(attackers);
  try {
    return await measure();
  } finally {
    // Waits for them, because aborted requests would disturb the next measurement.
    isOver = true;
    await ended;
    if (answers === 0) console.error(`none of ${atOnce} hostile requests was answered in time`);
  }
}

/** As a multiple of the Tenant's own p99 alone, and as the difference. */
function compare({ name, rounds }: PathFigures, alone: PathFigures): Comparison[] {
  const p99 = (figures: readonly LoadFigures[]) => figures.map(({ p99Ms }) => p99Ms);
  const ours = p99(rounds);
  const base = p99(alone.rounds);
  const errors = [...rounds, ...alone.rounds].reduce((sum, figures) => sum + figures.errors, 0);
  const added = ours.map((value, round) => Math.max(value - (base[round] ?? Number.NaN), 0));
  return [
    { unit: 'ms', ours, peer: base, peerName: `alone; beside: ${name}`, goal: { atMost: 2 }, errors },
    {
      unit: 'ms',
      ours: added,
      peer: ours.map(() => 100),
      peerName: `limit; added by: ${name}`,
      goal: { atMost: 1 },
      errors,
    },
  ];
}
