import { join } from 'node:path';
import type { Benchmark, BenchmarkContext, Outcome } from '../benchmark.ts';
import { type Figures, measureTransfers, type Transfer } from '../bodies/transfers.ts';
import { startListening } from '../processes/owned-process.ts';
import { median } from '../report/statistics.ts';
import { inTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { tenValues } from './ten-values.ts';

export const guardedBodies: Benchmark = {
  id: 'P16',
  work: 'response body of 20 MB through a response guard with 10 values',
  goal: 'at least 0.5 × the throughput without a guard',
  peerName: 'the same Proxy without a guard',
  run: measureGuardedBodies,
};

const sizeBytes = 20_000_000;
const modes = ['redact', 'off'] as const;

interface GuardedPath {
  name: string;
  body: Transfer;
}

/** Throughput of a body that has beginnings of the values, beside the same call of a Proxy that differs by its guard. */
async function measureGuardedBodies(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { pid, paths } = await startPaths(context, opened);
  const turns = paths.map(({ name, body }) => ({
    name,
    measure: (seconds: number) => measureTransfers(pid, body, { ...context, seconds }),
  }));
  const measured = await inTurns(context, turns, ({ mebibytesPerSecond, cpuSecondsPerBody, peakMebibytes }) => {
    const cpuMs = Math.round(1000 * cpuSecondsPerBody);
    return `${Math.round(mebibytesPerSecond)} MiB/s, ${cpuMs} ms of processor time, peak ${Math.round(peakMebibytes)} MiB`;
  });
  const [guarded = [], unguarded = []] = measured;
  const rates = (figures: Figures[]) => figures.map(({ mebibytesPerSecond }) => mebibytesPerSecond);
  const peerName = 'the same without a guard';
  return {
    comparisons: [
      { unit: 'MiB/s', ours: rates(guarded), peer: rates(unguarded), peerName, goal: { atLeast: 0.5 }, errors: 0 },
    ],
    paths: [],
    notes: [
      ...turns.map(({ name }, index) => {
        const seconds = median((measured[index] ?? []).map(({ cpuSecondsPerBody }) => cpuSecondsPerBody));
        return `${name}: ${Math.round(1000 * seconds)} ms of processor time for a body`;
      }),
      'client and destination are processes of Node on core 1; a body that does not arrive whole ends the benchmark',
    ],
  };
}

async function startPaths(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { directory, signal } = context;
  const file = join(import.meta.dirname, 'text-destination.process.ts');
  const logFile = join(directory, 'destination.log');
  const destination = opened.use(await startListening({ file, args: [String(sizeBytes)], logFile, signal }));
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const tenant = await createTenant(stack, signal);
  const tokens = await tenant.tokenize(tenValues);
  const posted = JSON.stringify(tokens.map((token) => `{{ ${token} }}`));
  const url = `${stack.serviceUrls.proxyGateway}/proxy`;
  const paths: GuardedPath[] = [];
  for (const mode of modes) {
    const proxyKey = await tenant.createProxy(destination.url, { response_guard: mode });
    const headers = { 'Content-Type': 'application/json', 'SVC-API-KEY': tenant.apiKey, 'SVC-PROXY-KEY': proxyKey };
    const body: Transfer = { direction: 'download', url, headers, sizeBytes, posted };
    await checkGuard(body, mode, signal);
    paths.push({ name: `guard ${mode}`, body });
  }
  return { pid: stack.pid, paths };
}

/** @throws unless the values that return are replaced, or without a guard are not. */
async function checkGuard(
  { url, headers, posted = '' }: Transfer,
  mode: (typeof modes)[number],
  signal: AbortSignal,
): Promise<void> {
  const { body } = await fetchJson<string[]>({ url: `${url}/echo`, headers, body: posted, signal });
  const expected = mode === 'off' ? tenValues : tenValues.map(() => '[redacted]');
  if (body.join() !== expected.join()) throw new Error(`With the guard ${mode} these values returned: ${body}`);
}
