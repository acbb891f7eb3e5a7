import { setTimeout as delay } from 'node:timers/promises';
import { queryOnce } from '@sluice/testing';
import { type Benchmark, type BenchmarkContext, limited, type Outcome } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { median, percentile } from '../report/statistics.ts';
import { fetchJson, send } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { openTenant } from '../stack/tenant.ts';
import { fillExpiring } from './fill-expiring.ts';

export const massExpiry: Benchmark = {
  id: 'P12',
  work: '100,000 Applications that expire in one second',
  goal: 'none usable after its moment; all rows gone in 20 s; API latency meanwhile at most 1.5 ×',
  peerName: 'those limits',
  run: measureExpiry,
};

const applications = 100_000;

/** How many of them are invoked continuously. */
const watched = 200;
const mostSeconds = 20;

/**
 * Applications that expire within one second, with alarms queued as the management API queues them. Measures the time
 * until all rows are deleted, and the duration of a look-up at the management API before and meanwhile. Some of the
 * keys are used continuously; a key accepted after its expiry is an error.
 */
async function measureExpiry(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const echo = opened.use(await startEcho());
  const stack = await startBenchmarkStack('management-api', context, opened);
  const { serviceUrls, credentials } = stack;
  const tenant = await openTenant(stack, signal);
  const proxyKey = await tenant.createProxy(echo.url);

  /** One look-up at a time, every 5 ms, while `goesOn`. */
  const lookUps = async (goesOn: () => boolean) => {
    const times: number[] = [];
    while (goesOn()) {
      const url = `${serviceUrls.managementApi}/applications/${tenant.applicationId}`;
      const headers = { 'SVC-API-KEY': credentials.management_key };
      times.push((await fetchJson({ url, headers, signal })).tookMs);
      await delay(5);
    }
    return times;
  };

  log(`Filling ${applications} Applications and their alarms`);
  const { keys, firstAt, lastAt } = await fillExpiring(stack, { applications, watched }, opened);
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
      const { status } = await send({ url, headers, body: '{"a":1}', signal });
      if (status === 200 && startedAt >= expiresAt) late += 1;
      if (status !== 200 && Date.now() < expiresAt) early += 1;
      await delay(1);
    }
  };
  const users = [useKeys(), useKeys()];
  await delay(Math.max(0, firstAt - Date.now()));
  const meanwhileTimes = lookUps(() => !isOver);
  const deadline = lastAt + 3 * mostSeconds * 1000;
  while ((await queryOnce(stack.databaseUrl, anyLeft)).length > 0) {
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
  const [p50, p99] = [median(quiet), percentile(quiet, 99)];
  return {
    comparisons: [
      limited('s', [gone], { limit: mostSeconds, name: 'limit until all rows are gone', errors }),
      {
        unit: 'ms',
        ours: [median(meanwhile)],
        peer: [p50],
        peerName: 'look-up before, p50',
        goal: { atMost: 1.5 },
        errors,
      },
      { unit: 'ms', ours: [percentile(meanwhile, 99)], peer: [p99], peerName: 'look-up before, p99', errors },
    ],
    paths: [],
    notes: ['once, whatever the number of rounds: what has expired is gone'],
  };
}

/** Rows that have expired, or expire within the second. */
const anyLeft = 'select from applications where expires_at is not null limit 1';
