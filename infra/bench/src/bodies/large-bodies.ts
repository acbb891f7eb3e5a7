import { join } from 'node:path';
import { freePort } from '@sluice/local';
import { type Benchmark, type BenchmarkContext, type Comparison, limited, type Outcome } from '../benchmark.ts';
import { startNginx } from '../destination/nginx.ts';
import { memoryOf } from '../machine/process-facts.ts';
import { startListening } from '../processes/owned-process.ts';
import { median } from '../report/statistics.ts';
import { inTurns } from '../rounds.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { type Figures, measureTransfers, type Transfer, transfer } from './transfers.ts';

export const largeBodies: Benchmark = {
  id: 'P5',
  work: '100 MiB body streamed each way',
  goal: 'at least 0.75 × the throughput of nginx; peak memory at most 32 MiB over idle',
  peerName: 'nginx, and that limit',
  run: measureStreaming,
};

const sizeMebibytes = 100;
const mostMebibytesOverIdle = 32;
const directions = ['upload', 'download'] as const;

/** A way to the destination, and the process on it that is measured. */
interface MeasuredPath {
  name: string;
  pid: number;
  url: string;
  headers: Record<string, string>;
}

/**
 * Throughput of large bodies, one at a time, compared with nginx as a proxy on the same core, and the gateway's peak
 * memory. Bodies are binary, so that they are not searched for expressions.
 */
async function measureStreaming(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { ours, nginx } = await startPaths(context, opened);
  const idle = await memoryOf(ours.pid, 'VmRSS');
  const turns = directions.flatMap((direction) =>
    [ours, nginx].map((path) => ({
      name: `${direction}, ${path.name}`,
      measure: () => measureTransfers(path.pid, bodyThrough(path, direction), context),
    })),
  );
  const measured = await inTurns(context, turns, ({ mebibytesPerSecond, peakMebibytes }) => {
    return `${Math.round(mebibytesPerSecond)} MiB/s, peak ${Math.round(peakMebibytes)} MiB`;
  });
  const rates = (figures: Figures[] = []) => figures.map(({ mebibytesPerSecond }) => mebibytesPerSecond);
  return {
    comparisons: directions.flatMap((direction, index): Comparison[] => {
      const [through = [], peer = []] = measured.slice(2 * index);
      const overIdle = through.map(({ peakMebibytes }) => peakMebibytes - idle);
      const goal = { atLeast: 0.75 };
      return [
        { unit: 'MiB/s', ours: rates(through), peer: rates(peer), peerName: `nginx, ${direction}`, goal, errors: 0 },
        limited('MiB', overIdle, { limit: mostMebibytesOverIdle, name: `limit over idle, ${direction}` }),
      ];
    }),
    paths: [],
    notes: [
      `resident memory of the gateway before the first body ${idle.toFixed(0)} MiB`,
      ...turns.map(({ name }, index) => {
        const seconds = median((measured[index] ?? []).map(({ cpuSecondsPerBody }) => cpuSecondsPerBody));
        return `${name}: ${Math.round(1000 * seconds)} ms of its processor time for a body`;
      }),
      'client and destination are processes of Node on core 1; a body that does not arrive whole ends the benchmark',
    ],
  };
}

function bodyThrough({ url, headers }: MeasuredPath, direction: Transfer['direction']): Transfer {
  return { direction, url, headers, sizeBytes: sizeMebibytes * 2 ** 20 };
}

async function startPaths(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { directory, cores, signal } = context;
  const file = join(import.meta.dirname, 'body-destination.process.ts');
  const [args, logFile] = [[String(sizeMebibytes * 2 ** 20)], join(directory, 'destination.log')];
  const destination = opened.use(await startListening({ file, args, logFile, signal }));
  const nginx = await startNginxProxy(context, destination.url, opened);
  await cores.moveToTestedCore(nginx.pid);

  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const tenant = await createTenant(stack, signal);
  const headers = { 'SVC-API-KEY': tenant.apiKey, 'SVC-PROXY-KEY': await tenant.createProxy(destination.url) };
  const url = `${stack.serviceUrls.proxyGateway}/proxy`;
  const paths = { ours: { name: 'sluice', pid: stack.pid, url, headers }, nginx: { ...nginx, headers } };
  for (const path of Object.values(paths)) {
    await transfer({ ...bodyThrough(path, 'upload'), sizeBytes: 1000 }, signal); // opens connections and fills caches
  }
  return paths;
}

/** Starts nginx as a proxy that buffers as little of a body as possible. @throws where there is no nginx. */
async function startNginxProxy(context: BenchmarkContext, destinationUrl: string, opened: AsyncDisposableStack) {
  const port = await freePort();
  const http = `  upstream destination { server ${new URL(destinationUrl).host}; keepalive 32; }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://destination;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }`;
  const pid = await startNginx(context, { name: 'nginx-proxy', port, http }, opened);
  if (pid === undefined) throw new Error('There is no nginx to compare with');
  return { name: 'nginx', pid, url: `http://127.0.0.1:${port}/proxy` };
}
