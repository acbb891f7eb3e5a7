import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { createTenant } from '../invocation/tenant.ts';
import { send } from '../management/api-client.ts';
import { createApplication } from '../management/create-application.ts';
import { median, percentile } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { countDue, fillExpiring } from './fill-expiring.ts';

const applications = 100_000;

/** How many of them are invoked continuously. */
const watched = 200;
const mostSeconds = 20;

/**
 * Applications that expire within one second, with alarms queued as the management API queues them. Measures the time
 * until all rows are deleted, and the duration of a look-up at the management API before and meanwhile. Some of the
 * keys are used continuously; a key accepted after its expiry is an error.
 */
export async function measureExpiry(context: BenchmarkContext): Promise<Outcome> {
  const { directory, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const stack = await startBenchmarkStack('management-api', context, opened);
  const { KEY_PEPPER: pepper = '' } = parseEnv(await readFile(join(directory, 'stack', 'environment'), 'utf8'));
  const { databaseUrl, redisUrl, serviceUrls, credentials } = stack;
  const id = await createApplication(stack, signal);
  const proxyKey = await (await createTenant(stack, signal)).createProxy(`http://127.0.0.1:${echo.port}`);

  /** One look-up at a time, every 5 ms, while `goesOn`. */
  const lookUps = async (goesOn: () => boolean) => {
    const times: number[] = [];
    while (goesOn()) {
      const url = `${serviceUrls.managementApi}/applications/${id}`;
      const headers = { 'SVC-API-KEY': credentials.management_key };
      const { status, tookMs } = await send({ url, method: 'GET', headers, signal });
      if (status !== 200) throw new Error(`${url} was answered with ${status}`);
      times.push(tookMs);
      await delay(5);
    }
    return times;
  };

  log(`Filling ${applications} Applications and their alarms`);
  const filling = { databaseUrl, redisUrl, pepper, tenantId: credentials.tenant_id, applications, watched };
  const { keys, firstAt, lastAt } = await fillExpiring(filling, opened);
  const quietUntil = performance.now() + 1000 * seconds;
  await lookUps(() => performance.now() < quietUntil - 500 * seconds); // warm-up
  const quiet = await lookUps(() => performance.now() < quietUntil);
  if (Date.now() > firstAt) throw new Error('The Applications expired while the tables were filled');

  let isOver = false;
  let late = 0;
  let early = 0;
  const useKeys = async () => {
    for (let n = 0; !isOver; n = (n + 1) % keys.length) {
      const { key, expiresAt } = keys[n] ?? { key: '', expiresAt: 0 };
      const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'application/json' };
      const startedAt = Date.now();
      const url = `${serviceUrls.proxyGateway}/proxy`;
      const { status } = await send({ url, method: 'POST', headers, body: '{"a":1}', signal });
      if (status === 200 && startedAt >= expiresAt) late += 1;
      if (status !== 200 && Date.now() < expiresAt) early += 1;
      await delay(1);
    }
  };
  const users = [useKeys(), useKeys()];
  await delay(Math.max(0, firstAt - Date.now()));
  const meanwhileTimes = lookUps(() => !isOver);
  const deadline = lastAt + 3 * mostSeconds * 1000;
  while ((await countDue(databaseUrl)) > 0) {
    if (Date.now() > deadline) throw new Error('There are Applications left long after their moment');
    await delay(250);
  }
  const gone = (Date.now() - lastAt) / 1000;
  isOver = true;
  const [meanwhile] = await Promise.all([meanwhileTimes, ...users]);
  log(
    `  all rows gone ${gone.toFixed(1)} s after the last moment; used after its moment: ${late}, refused before: ${early}`,
  );

  const errors = late + early;
  const comparisons: Comparison[] = [
    {
      unit: 's',
      ours: [gone],
      peer: [mostSeconds],
      peerName: 'limit until all rows are gone',
      goal: { atMost: 1 },
      errors,
    },
    {
      unit: 'ms',
      ours: [median(meanwhile)],
      peer: [median(quiet)],
      peerName: 'look-up before, p50',
      goal: { atMost: 1.5 },
      errors,
    },
    {
      unit: 'ms',
      ours: [percentile(meanwhile, 99)],
      peer: [percentile(quiet, 99)],
      peerName: 'look-up before, p99',
      errors,
    },
  ];
  return { comparisons, paths: [], notes: ['once, whatever the number of rounds: what has expired is gone'] };
}
