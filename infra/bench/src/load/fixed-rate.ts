import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connections, type LoadFigures, type LoadGenerator, type LoadRequest, runBounded } from './load-generator.ts';

/** The input of the process. */
export interface FixedRateTask {
  request: LoadRequest;
  requestsPerSecond: number;
  /** Time before the counted requests, in which the process's own code warms up. */
  warmUpSeconds: number;
  seconds: number;
  connections: number;
}

/**
 * Sends requests at fixed times from its own process, whether or not earlier ones were answered. Latency counts from
 * the time at which a request was due, so that a stalled server is charged for all requests that it delayed.
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
