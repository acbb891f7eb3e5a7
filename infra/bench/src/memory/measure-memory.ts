import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { createTenant } from '../invocation/tenant.ts';
import { memoryOf } from '../machine/process-facts.ts';
import { send } from '../management/api-client.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { fillKeys } from './fill-keys.ts';

const counts = { applications: 1_000_000, proxies: 100_000, known: 60_000 };
const mostMebibytes = 300;
const concurrency = 32;

/**
 * Peak memory of a gateway with far more Applications, Proxies and tokens than its caches hold. Each request has its
 * own key, Proxy and token; all are used once, and then all again.
 */
export async function measureMemory(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const pid = stack.processes.get('proxy-gateway')?.pid;
  const { KEY_PEPPER: pepper = '' } = parseEnv(await readFile(join(directory, 'stack', 'environment'), 'utf8'));
  const { tenant_id: tenantId } = stack.credentials;
  log(`Filling ${counts.applications} Applications and ${counts.proxies} Proxies, and creating ${counts.known} tokens`);
  const destinationUrl = `http://127.0.0.1:${echo.port}`;
  const { databaseUrl } = stack;
  const { apiKeys, proxyKeys } = await fillKeys({ databaseUrl, tenantId, pepper, destinationUrl }, counts);
  const tokens = await (await createTenant(stack, signal)).createTokens(counts.known);

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
        const answer = await send({ url, method: 'POST', headers, body, signal });
        if (answer.status !== 200 || answer.body !== JSON.stringify({ card: `value ${n}` })) errors += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, client));
    const [peak, now] = [await memoryOf(pid, 'VmHWM'), await memoryOf(pid, 'VmRSS')];
    log(`  round ${round}  peak ${peak.toFixed(0)} MiB, now ${now.toFixed(0)} MiB`);
    peaks.push(peak);
  }
  return {
    comparisons: [
      {
        unit: 'MiB',
        ours: peaks,
        peer: peaks.map(() => mostMebibytes),
        peerName: 'limit',
        goal: { atMost: 1 },
        errors,
      },
    ],
    paths: [],
    notes: [
      `resident memory before the first request ${idle.toFixed(0)} MiB; caches at their default bounds`,
      `${counts.known} different keys, Proxies and tokens in each round`,
    ],
  };
}
