import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { createTenant } from '../invocation/tenant.ts';
import { send } from '../management/api-client.ts';
import { createApplication } from '../management/create-application.ts';
import { type Gateway, startGateway } from '../processes/more-gateways.ts';
import { median, percentile } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';

/** Goals: 50 ms more than the lease of 2 s for a hung gateway. */
const mostMs = { quiet: 20, hung: 2050 };

/** How often a gateway is stopped in a round. */
const stops = 3;

/**
 * Time to replace a key that three gateways have just used, until the answer, after which no gateway accepts the old
 * key. Then the same with one gateway stopped, which cannot confirm.
 */
export async function measureRevocation(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const stack = await startBenchmarkStack('management-api', context, opened);
  const more = [await startGateway(context, opened), await startGateway(context, opened)];
  const urls = [stack.serviceUrls.proxyGateway, ...more.map(({ url }) => url)];
  const tenant = await createTenant(stack, signal);
  const proxyKey = await tenant.createProxy(`http://127.0.0.1:${echo.port}`);
  const id = await createApplication(stack, signal, ['token:use']);

  const regenerate = async () => {
    const { managementApi } = stack.serviceUrls;
    const headers = { 'SVC-API-KEY': stack.credentials.management_key };
    const url = `${managementApi}/applications/${id}/regenerate`;
    const { status, body, tookMs } = await send({ url, method: 'POST', headers, signal });
    if (status !== 200) throw new Error(`${url} was answered with ${status}: ${body}`);
    return { key: (JSON.parse(body) as { key: string }).key, tookMs };
  };
  const statuses = async (key: string, gateways: readonly string[]) => {
    const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'application/json' };
    const invoke = (url: string) => send({ url: `${url}/proxy`, method: 'POST', headers, body: '{"a":1}', signal });
    return (await Promise.all(gateways.map(invoke))).map(({ status }) => status);
  };
  let errors = 0;
  const expectAll = async (key: string, gateways: readonly string[], expected: number) => {
    errors += (await statuses(key, gateways)).filter((status) => status !== expected).length;
  };

  let { key } = await regenerate();
  const quiet: number[][] = [];
  const hung: number[][] = [];
  for (let round = 0; round <= rounds; round++) {
    const times: number[] = [];
    const deadline = performance.now() + 1000 * seconds;
    while (performance.now() < deadline) {
      await expectAll(key, urls, 200); // now all three have it cached
      const old = key;
      const answer = await regenerate();
      key = answer.key;
      times.push(answer.tookMs);
      await expectAll(old, urls, 401);
    }
    const waits: number[] = [];
    for (let stop = 0; stop < stops; stop++) {
      await expectAll(key, urls, 200);
      const [first] = more as [Gateway, Gateway];
      process.kill(first.pid, 'SIGSTOP');
      try {
        await delay(100 * Math.random());
        const old = key;
        const answer = await regenerate();
        key = answer.key;
        waits.push(answer.tookMs);
        process.kill(first.pid, 'SIGCONT');
        await expectAll(old, urls, 401);
      } finally {
        process.kill(first.pid, 'SIGCONT');
      }
      await delay(1000); // until it has a lease again
    }
    const name = round === 0 ? 'warm-up' : `round ${round}`;
    log(
      `  ${name.padEnd(8)} ${times.length} regenerations: p50 ${median(times).toFixed(1)} ms, p99 ${percentile(times, 99).toFixed(1)} ms; ` +
        `one gateway stopped: at most ${Math.max(...waits).toFixed(0)} ms`,
    );
    if (round === 0) continue;
    quiet.push(times);
    hung.push(waits);
  }

  const against = (limit: number, ours: number[], name: string): Comparison => ({
    unit: 'ms',
    ours,
    peer: ours.map(() => limit),
    peerName: name,
    goal: { atMost: 1 },
    errors,
  });
  return {
    comparisons: [
      against(
        mostMs.quiet,
        quiet.map((times) => percentile(times, 99)),
        'limit of the p99',
      ),
      against(
        mostMs.hung,
        hung.map((waits) => Math.max(...waits)),
        'limit, one gateway stopped',
      ),
    ],
    paths: [],
    notes: [
      `p50 ${median(quiet.flat()).toFixed(1)} ms, p99 ${percentile(quiet.flat(), 99).toFixed(1)} ms, at most ${Math.max(...quiet.flat()).toFixed(1)} ms of ${quiet.flat().length}`,
      'each key was used at all three gateways before, and refused by all three after; anything else is an error',
    ],
  };
}
