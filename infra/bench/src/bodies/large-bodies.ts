import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '@sluice/local';
import { type Benchmark, type BenchmarkContext, type Comparison, limited, type Outcome } from '../benchmark.ts';
import { startNginx } from '../destination/nginx.ts';
import { cpuSecondsOf, memoryOf, resetPeakMemory } from '../machine/process-facts.ts';
import { startListening } from '../processes/owned-process.ts';
import { median } from '../report/statistics.ts';
import { inTurns } from '../rounds.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { writeBody } from './write-body.ts';

interface Transfer {
  direction: 'upload' | 'download';
  url: string;
  headers: Record<string, string>;
  sizeBytes: number;
}

const agent = new Agent({ keepAlive: true });

/** Sends or fetches one body. @throws unless all of it arrived. */
async function transfer({ direction, url, headers, sizeBytes }: Transfer, signal: AbortSignal): Promise<void> {
  const isUpload = direction === 'upload';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const size = isUpload ? { 'Content-Type': 'application/octet-stream', 'Content-Length': sizeBytes } : {};
  const sent = request(url, { agent, method: isUpload ? 'POST' : 'GET', headers: { ...headers, ...size }, signal });
  sent.on('response', resolve).on('error', reject);
  if (isUpload) writeBody(sent, sizeBytes);
  else sent.end();
  const answer = await promise;
  if (answer.statusCode !== 200) throw new Error(`${url} answered with ${answer.statusCode}: ${await text(answer)}`);
  const arrived = isUpload ? Number(await text(answer)) : await count(answer);
  if (arrived !== sizeBytes) throw new Error(`${url}: ${arrived} bytes of the ${direction} arrived`);
}

async function count(answer: IncomingMessage): Promise<number> {
  let received = 0;
  for await (const chunk of answer) received += (chunk as Buffer).length;
  return received;
}

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

interface Figures {
  mebibytesPerSecond: number;
  cpuSecondsPerBody: number;
  peakMebibytes: number;
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
      measure: () => measure(path, direction, context),
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
    await transfer({ ...path, direction: 'upload', sizeBytes: 1000 }, signal); // opens connections and fills caches
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

/** Transfers bodies one after the other until the time is over. */
async function measure(
  { pid, url, headers }: MeasuredPath,
  direction: Transfer['direction'],
  { seconds, signal }: BenchmarkContext,
): Promise<Figures> {
  await resetPeakMemory(pid);
  const [start, cpuBefore] = [performance.now(), await cpuSecondsOf(pid)];
  let bodies = 0;
  while (performance.now() - start < 1000 * seconds) {
    await transfer({ direction, url, headers, sizeBytes: sizeMebibytes * 2 ** 20 }, signal);
    bodies += 1;
  }
  const tookSeconds = (performance.now() - start) / 1000;
  return {
    mebibytesPerSecond: (bodies * sizeMebibytes) / tookSeconds,
    cpuSecondsPerBody: ((await cpuSecondsOf(pid)) - cpuBefore) / bodies,
    peakMebibytes: await memoryOf(pid, 'VmHWM'),
  };
}
