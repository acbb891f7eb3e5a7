import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Benchmark, type BenchmarkContext, limited } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';
import { inTurns } from '../rounds.ts';

export const secondStart: Benchmark = {
  id: 'P13',
  work: 'npm start until it is ready, on a folder that was started before',
  goal: 'at most 3 s',
  peerName: '3 s',
  async run(context) {
    // The first start, which warms up, creates the database.
    const turn = { name: 'npm start', measure: () => startOnce(context) };
    const [times = []] = await inTurns(context, [turn], (seconds) => `ready after ${seconds.toFixed(2)} s`);
    return { comparisons: [limited('s', times, { limit: 3, name: '3 s' })], paths: [], notes: [] };
  },
};

const root = join(import.meta.dirname, '../../../..');

/** Seconds from `npm start` until it reports that it is ready. */
async function startOnce({ cores, directory, signal }: BenchmarkContext): Promise<number> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, SLUICE_DIR: join(directory, 'sluice'), PORT: '0' };
  const logFile = join(directory, 'start.log');
  const [command = 'npm', ...args] = [...cores.onAllCores, 'npm', '--prefix', root, 'start'];
  const startedAt = performance.now();
  await using launcher = await startOwned({ command, args, env, logFile, signal, readsOutput: true, isForeign: true });
  if (!launcher.child.stdout) throw new Error('npm start has no output');
  for await (const line of createInterface({ input: launcher.child.stdout, signal })) {
    if (line === 'Sluice is ready') return (performance.now() - startedAt) / 1000;
  }
  throw new Error(`npm start ended before it was ready; see ${logFile}`);
}
