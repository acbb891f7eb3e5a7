import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';

const root = join(import.meta.dirname, '../../../..');
const goalSeconds = 3;

/**
 * Seconds from `npm start` until it reports that it is ready. The first start creates the database and does not count.
 */
export async function measureStart(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, log } = context;
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const seconds = await startOnce(context);
    log(`  ${(round === 0 ? 'first' : `round ${round}`).padEnd(8)} ready after ${seconds.toFixed(2)} s`);
    if (round > 0) times.push(seconds);
  }
  const peer = times.map(() => goalSeconds);
  return {
    comparisons: [{ unit: 's', ours: times, peer, peerName: `${goalSeconds} s`, goal: { atMost: 1 }, errors: 0 }],
    paths: [],
    notes: [],
  };
}

async function startOnce({ cores, directory, signal }: BenchmarkContext): Promise<number> {
  signal.throwIfAborted();
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, SLUICE_DIR: join(directory, 'sluice'), PORT: '0' };
  const logFile = join(directory, 'start.log');
  const [command = 'npm', ...args] = [...cores.onAllCores, 'npm', '--prefix', root, 'start'];
  const startedAt = performance.now();
  await using launcher = await startOwned({
    command,
    args,
    env,
    logFile,
    readsOutput: true,
    isForeign: true,
  });
  if (!launcher.child.stdout) throw new Error('npm start has no output');
  for await (const line of createInterface({ input: launcher.child.stdout, signal })) {
    if (line === 'Sluice is ready') return (performance.now() - startedAt) / 1000;
  }
  throw new Error(`npm start ended before it was ready; see ${logFile}`);
}
