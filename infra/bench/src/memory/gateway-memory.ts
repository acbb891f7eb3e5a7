import { type Benchmark, type BenchmarkContext, limited, type Outcome } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { memoryOf } from '../machine/process-facts.ts';
import { send } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { openTenant } from '../stack/tenant.ts';
import { fillKeys } from './fill-keys.ts';

export const gatewayMemory: Benchmark = {
  id: 'P11',
  work: 'peak memory of a gateway with 100,000 Proxies and 1,000,000 Applications in Postgres, 60,000 of each in use',
  goal: 'at most 300 MiB',
  peerName: 'that limit',
  run: measureMemory,
};

const counts = { applications: 1_000_000, proxies: 100_000, known: 60_000 };
const mostMebibytes = 300;
const concurrency = 32;

/**
 * Peak memory of a gateway with far more Applications, Proxies and tokens than its caches hold. Each request has its
 * own key, Proxy and token; all are used once, and then all again.
 */
async function measureMemory(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const { pid } = stack;
  log(`Filling ${counts.applications} Applications and ${counts.proxies} Proxies, and creating ${counts.known} tokens`);
  const { apiKeys, proxyKeys } = await fillKeys(stack, echo.url, counts);
  const tokens = await (await openTenant(stack, signal)).createTokens(counts.known);

  const idle = await memoryOf(pid, 'VmRSS');
  const peaks: number[] = [];
  let errors = 0;
  for (let round = 1; round <= Math.max(2, rounds); round++) {
    let next = 0;
    const client = async () => {
      for (let n = next++; n < counts.known; n = next++) {
        const headers = {
          'SVC-API-KEY': apiKeys[n] ?? '',
          'SVC-PROXY-KEY': proxyKeys[n] ?? '',
          'Content-Type': 'application/json',
        };
        const body = JSON.stringify({ card: `{{ ${tokens[n]} }}` });
        const url = `${stack.serviceUrls.proxyGateway}/proxy`;
        const answer = await send({ url, headers, body, signal });
        if (answer.status !== 200 || answer.body !== JSON.stringify({ card: `value ${n}` })) errors += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, client));
    const [peak, now] = [await memoryOf(pid, 'VmHWM'), await memoryOf(pid, 'VmRSS')];
    log(`  round ${round}  peak ${peak.toFixed(0)} MiB, now ${now.toFixed(0)} MiB`);
    peaks.push(peak);
  }
  return {
    comparisons: [limited('MiB', peaks, { limit: mostMebibytes, name: 'limit', errors })],
    paths: [],
    notes: [
      `resident memory before the first request ${idle.toFixed(0)} MiB; caches at their default bounds`,
      `${counts.known} different keys, Proxies and tokens in each round`,
    ],
  };
}
