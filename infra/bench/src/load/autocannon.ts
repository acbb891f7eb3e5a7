import { fileURLToPath } from 'node:url';
import { connections, type LoadFigures, type LoadGenerator, runBounded } from './load-generator.ts';

interface AutocannonResult {
  requests: { average: number };
  latency: { p50: number; p99: number };
  errors: number;
  non2xx: number;
}

/** autocannon in its own process, because it must not share the event loop of what is measured. */
export const autocannon: LoadGenerator = {
  name: `autocannon, ${connections} connections, as there is no wrk; it may be slower than what it measures`,
  async run({ url, headers, body, uniqueHeader }, seconds, signal) {
    if (uniqueHeader)
      throw new Error('autocannon sends the same headers in each request: install wrk for this benchmark');
    const program = fileURLToPath(import.meta.resolve('autocannon'));
    const headerArguments = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
    const load = ['-c', String(connections), '-d', String(seconds), ...headerArguments];
    const post = body === undefined ? [] : ['-m', 'POST', '-b', body];
    const args = [program, '--json', '--no-progress', ...load, ...post, url];
    return readResult(JSON.parse(await runBounded(process.execPath, args, { seconds, signal })));
  },
};

function readResult({ requests, latency, errors, non2xx }: AutocannonResult): LoadFigures {
  return { requestsPerSecond: requests.average, p50Ms: latency.p50, p99Ms: latency.p99, errors: errors + non2xx };
}
