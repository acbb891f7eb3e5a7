import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connections, type LoadFigures, type LoadGenerator, type LoadRequest } from './load-generator.ts';
import { runBounded } from './run-bounded.ts';

/** What the process is told. */
export interface FixedRateTask {
  request: LoadRequest;
  requestsPerSecond: number;
  /** Before those that count, for its own code to warm up. */
  warmUpSeconds: number;
  seconds: number;
  connections: number;
}

/**
 * Sends requests at fixed moments, whether or not those before were answered, from a process of its own. Latency counts
 * from the moment at which a request was due, so a server that stalls is told of all requests that it kept waiting.
 */
export function fixedRate(requestsPerSecond: number, directory: string): LoadGenerator {
  const [warmUpSeconds, taskFile] = [1, join(directory, 'fixed-rate.json')];
  return {
    name: `${Math.round(requestsPerSecond)} requests a second at fixed moments, up to ${connections} connections`,
    async run(request, seconds, signal): Promise<LoadFigures> {
      const task: FixedRateTask = { request, requestsPerSecond, warmUpSeconds, seconds, connections };
      await writeFile(taskFile, JSON.stringify(task), { mode: 0o600 });
      const args = [join(import.meta.dirname, 'fixed-rate.process.ts'), taskFile];
      return JSON.parse(await runBounded(process.execPath, args, { seconds: seconds + warmUpSeconds, signal }));
    },
  };
}
