import pg from 'pg';
import { createHttpClient, NoAnswer } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { createUnusedKey, useCachedKey } from '../under-load/cached-key.ts';
import { countBy } from '../under-load/count.ts';
import type { Probed, Probes } from '../under-load/probes.ts';
import { type Disturbance, runUnderLoad } from '../under-load/run-under-load.ts';
import type { World } from '../under-load/world.ts';
import type { FaultContext, FaultResult, FaultTest } from './fault-test.ts';

const poolSize = 4;

/** Several leases, and less than a statement may take. */
const lastsMs = 7000;
/** Until every place is taken. */
const settlesMs = 500;
/** A second is promised; the other is for a machine that has other things to do. */
const answeredWithinMs = 1000 + 1000;
const askedEach = 5;

/** All connections of all processes wait for a lock, while keys that are cached go on being used. */
async function run(context: FaultContext): Promise<FaultResult> {
  let cached: Probes | undefined;
  return runUnderLoad(context, {
    environment: { DATABASE_POOL_SIZE: String(poolSize) },
    async disturb(world) {
      // New to every process: to look one up takes a connection; several look-ups of one would share it.
      const keys = await Promise.all(
        Array.from({ length: poolSize + askedEach }, (_, number) => createUnusedKey(world, `New ${number}`)),
      );
      cached = await useCachedKey(world);
      return whileLocked(world.site, () =>
        exhaust(
          world,
          keys.map(({ key }) => key),
        ),
      );
    },
    async after() {
      await cached?.stop();
      return judgeCached(cached?.seen ?? []);
    },
  });
}

/** What needs these tables waits: keys that are not cached, and everything that creates. */
async function whileLocked(site: Site, act: () => Promise<Disturbance>): Promise<Disturbance> {
  const client = new pg.Client({ connectionString: site.stores.databaseUrl });
  await client.connect();
  try {
    await client.query('begin; lock table applications, tokens in access exclusive mode');
    return await act();
  } finally {
    await client.end(); // which rolls back
  }
}

interface Answered {
  node: string;
  detail: string;
  retryAfter: string | undefined;
  ms: number;
}

async function exhaust(world: World, newKeys: readonly string[]): Promise<Disturbance> {
  const { nodes, pause } = world;
  const http = createHttpClient();
  const asked = nodes.filter(({ service }) => service !== 'worker');
  const ask = (keys: readonly string[]) =>
    Promise.all(asked.flatMap((node) => keys.map((key) => send(http, world, node, key))));
  try {
    const occupying = ask(newKeys.slice(0, poolSize));
    occupying.catch(() => undefined); // what it would say is of no interest
    await pause(settlesMs);
    const answers = (await ask(newKeys.slice(poolSize))).toSorted((a, b) => a.ms - b.ms);
    await pause(Math.max(0, lastsMs - settlesMs - (answers.at(-1)?.ms ?? 0)));
    return judgeAnswers(answers);
  } finally {
    http.close();
  }
}

/** A request that needs a connection. */
async function send(
  http: ReturnType<typeof createHttpClient>,
  { client, site }: World,
  { name, service, url }: Node,
  newKey: string,
): Promise<Answered> {
  const isManagement = service === 'management-api';
  const headers = {
    'content-type': 'application/json',
    'svc-api-key': isManagement ? site.credentials.management_key : newKey,
    ...(service === 'proxy-gateway' && { 'svc-proxy-key': client.proxyKey }),
  };
  const path = isManagement ? '/applications' : service === 'token-vault' ? '/detokenize' : '/proxy';
  const body = isManagement ? JSON.stringify({ name: 'Waits', type: 'private', permissions: ['token:use'] }) : '{}';
  const startedAt = performance.now();
  const answered = (detail: string, retryAfter?: string): Answered => ({
    node: name,
    detail,
    retryAfter,
    ms: performance.now() - startedAt,
  });
  try {
    const answer = await http.send({ method: 'POST', url: `${url}${path}`, headers, body, timeoutMs: 15_000 });
    return answered(String(answer.status), answer.headers['retry-after']);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return answered(error.code);
  }
}

function judgeAnswers(answers: readonly Answered[]): Disturbance {
  const other = answers.filter(({ detail }) => detail !== '503');
  const silent = answers.filter(({ detail, retryAfter }) => detail === '503' && !retryAfter);
  const slowest = answers.at(-1);
  const median = answers[Math.floor(answers.length / 2)];
  return {
    figures: [
      ['requests without a connection', countBy(answers, ({ detail }) => detail)],
      ['answered after p50 / max', `${median?.ms.toFixed(0)} / ${slowest?.ms.toFixed(0)} ms`],
    ],
    failures: [
      ...other.slice(0, 1).map(({ node, detail }) => `${node} answered ${detail} while it had no connection`),
      ...silent.slice(0, 1).map(({ node }) => `${node} did not say when to try again`),
      ...(slowest && slowest.ms > answeredWithinMs
        ? [`${slowest.node} took ${Math.round(slowest.ms)} ms to say that it has no connection`]
        : []),
    ],
  };
}

function judgeCached(seen: readonly Probed[]): Disturbance {
  const failed = seen.filter(({ detail }) => detail !== '200');
  return {
    figures: [['use of a cached key', countBy(seen, ({ detail }) => detail)]],
    failures: [
      ...(failed.length > 0
        ? [`a cached key was not served: ${countBy(failed, ({ target, detail }) => `${target} ${detail}`)}`]
        : []),
      ...(seen.length === 0 ? ['the cached key was never used'] : []),
    ],
  };
}

export const poolExhausted: FaultTest = {
  name: 'pool-exhausted',
  description: 'all connections to Postgres are held for 7 s: cached keys are served, all else is 503 within a second',
  run,
};
