import { join } from 'node:path';
import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { createTenant } from '../invocation/tenant.ts';
import { cpuSecondsOf, memoryOf, resetPeakMemory } from '../machine/process-facts.ts';
import { startNginxProxy } from '../peers/nginx-proxy.ts';
import { startListening } from '../processes/listening-process.ts';
import { median } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { type Transfer, transfer } from './transfer.ts';

const sizeMebibytes = 100;
const mostMebibytesOverIdle = 32;
const directions = ['upload', 'download'] as const;

/** A way to the destination, and the process on it that is measured. */
interface MeasuredPath {
  name: string;
  pid: number | undefined;
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
export async function measureStreaming(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, log } = context;
  await using opened = new AsyncDisposableStack();
  const { ours, nginx } = await startPaths(context, opened);
  const idle = await memoryOf(ours.pid, 'VmRSS');

  const measured = directions.flatMap((direction) =>
    [ours, nginx].map((path) => ({ direction, path, rounds: [] as Figures[] })),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const { direction, path, rounds: figuresOfRounds } of measured) {
      const figures = await measure(path, direction, context);
      const when = round === 0 ? 'warm-up' : `round ${round}`;
      const { mebibytesPerSecond, peakMebibytes } = figures;
      const rate = `${Math.round(mebibytesPerSecond)} MiB/s, peak ${Math.round(peakMebibytes)} MiB`;
      log(`  ${when.padEnd(8)} ${direction.padEnd(8)} ${path.name.padEnd(8)} ${rate}`);
      if (round > 0) figuresOfRounds.push(figures);
    }
  }

  return {
    comparisons: directions.flatMap((direction) => {
      const ofDirection = measured.filter((entry) => entry.direction === direction).map((entry) => entry.rounds);
      const [ourRounds = [], nginxRounds = []] = ofDirection;
      return compare(direction, { ours: ourRounds, nginx: nginxRounds, idle });
    }),
    paths: [],
    notes: [
      `resident memory of the gateway before the first body ${idle.toFixed(0)} MiB`,
      ...measured.map(({ direction, path, rounds: figures }) => {
        const seconds = median(figures.map(({ cpuSecondsPerBody }) => cpuSecondsPerBody));
        return `${direction} through ${path.name}: ${Math.round(1000 * seconds)} ms of its processor time for a body`;
      }),
      'client and destination are processes of Node on core 1; a body that does not arrive whole ends the benchmark',
    ],
  };
}

function compare(
  direction: Transfer['direction'],
  { ours, nginx, idle }: { ours: Figures[]; nginx: Figures[]; idle: number },
): Comparison[] {
  return [
    {
      unit: 'MiB/s',
      ours: ours.map(({ mebibytesPerSecond }) => mebibytesPerSecond),
      peer: nginx.map(({ mebibytesPerSecond }) => mebibytesPerSecond),
      peerName: `nginx, ${direction}`,
      goal: { atLeast: 0.75 },
      errors: 0,
    },
    {
      unit: 'MiB',
      ours: ours.map(({ peakMebibytes }) => peakMebibytes - idle),
      peer: ours.map(() => mostMebibytesOverIdle),
      peerName: `limit over idle, ${direction}`,
      goal: { atMost: 1 },
      errors: 0,
    },
  ];
}

async function startPaths(
  context: BenchmarkContext,
  opened: AsyncDisposableStack,
): Promise<{ ours: MeasuredPath; nginx: MeasuredPath }> {
  const { directory, cores, signal } = context;
  const file = join(import.meta.dirname, 'body-destination.process.ts');
  const [args, logFile] = [[String(sizeMebibytes * 2 ** 20)], join(directory, 'destination.log')];
  const destination = opened.use(await startListening({ file, args, logFile, signal }));
  const nginx = opened.use(await startNginxProxy(context, destination.url));
  await cores.moveToTestedCore(nginx.pid);

  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const tenant = await createTenant(stack, signal);
  const headers = { 'SVC-API-KEY': tenant.apiKey, 'SVC-PROXY-KEY': await tenant.createProxy(destination.url) };
  const url = `${stack.serviceUrls.proxyGateway}/proxy`;
  const paths = {
    ours: { name: 'sluice', pid: stack.processes.get('proxy-gateway')?.pid, url, headers },
    nginx: { name: 'nginx', pid: nginx.pid, url: `${nginx.url}/proxy`, headers },
  };
  for (const path of [paths.ours, paths.nginx]) {
    await transfer({ ...path, direction: 'upload', sizeBytes: 1000 }, signal); // opens connections and fills caches
  }
  return paths;
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
