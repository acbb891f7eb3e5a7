import { createHttpClient, type HttpAnswer, type HttpClient } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { keyedRequest, otherNumber } from '../coherence/client.ts';
import { connectStore } from '../under-load/audit-log.ts';
import { countBy, durationMs, percentiles } from '../under-load/count.ts';
import { createUnusedKey, type Probed, useCachedKey } from '../under-load/probes.ts';
import { type Disturbance, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const poolSize = 4;

/** Several leases, and less than a statement may take. */
const lastsMs = 7000;
/** Until every place is taken. */
const settlesMs = 500;
/** A second is promised; the other is for a machine that has other things to do. */
const answeredWithinMs = 1000 + 1000;
const askedEach = 5;

/** All connections of all processes wait for a lock, while keys that are cached go on being used. */
export const poolExhausted = underLoad(
  'pool-exhausted',
  'all connections to Postgres are held for 7 s: cached keys are served, all else is 503 within a second',
  {
    environment: { DATABASE_POOL_SIZE: String(poolSize) },
    async disturb(world) {
      // New to every process: to look one up takes a connection; several look-ups of one would share it.
      const keys = await Promise.all(
        Array.from({ length: poolSize + askedEach }, (_, number) => createUnusedKey(world, `New ${number}`)),
      );
      const cached = await useCachedKey(world);
      await using stack = new AsyncDisposableStack();
      const client = await connectStore(world, stack);
      // What needs these tables waits: keys that are not cached, and everything that creates.
      await client.query('begin; lock table applications, tokens in access exclusive mode');
      const found = await exhaust(
        world,
        keys.map(({ key }) => key),
      );
      return {
        ...found,
        async after() {
          await cached.stop();
          return judgeCached(cached.seen);
        },
      };
    },
  },
);

interface Answered extends HttpAnswer {
  node: string;
  startedAt: number;
  endedAt: number;
}

async function exhaust(world: World, newKeys: readonly string[]): Promise<Disturbance> {
  const { nodes, pause } = world;
  await using stack = new AsyncDisposableStack();
  const http = createHttpClient(stack);
  const asked = nodes.filter(({ service }) => service !== 'worker');
  const ask = (keys: readonly string[]) =>
    Promise.all(asked.flatMap((node) => keys.map((key) => send(http, world, { node, key }))));
  void ask(newKeys.slice(0, poolSize)); // until their connections are closed
  await pause(settlesMs);
  const startedAt = performance.now();
  const answers = (await ask(newKeys.slice(poolSize))).toSorted((a, b) => durationMs(a) - durationMs(b));
  await pause(Math.max(0, lastsMs - settlesMs - (performance.now() - startedAt)));
  return judgeAnswers(answers);
}

/** A request that needs a connection. */
async function send(
  http: HttpClient,
  { client, credentials }: World,
  { node, key }: { node: Node; key: string },
): Promise<Answered> {
  const creation = {
    method: 'POST',
    url: `${node.url}/applications`,
    headers: { 'content-type': 'application/json', 'svc-api-key': credentials.management_key },
    body: JSON.stringify({ name: 'Waits', type: 'private', permissions: ['token:use'] }),
  };
  const use = keyedRequest(node, {
    apiKey: key,
    proxyKey: client.proxyKey,
    traceId: 'without-connection',
    number: otherNumber(),
  });
  const request = node.service === 'management-api' ? creation : { ...use, body: '{}' };
  const startedAt = performance.now();
  const answer = await http.send({ ...request, timeoutMs: 15_000 });
  return { ...answer, node: node.name, startedAt, endedAt: performance.now() };
}

function judgeAnswers(answers: readonly Answered[]): Disturbance {
  const other = answers.filter(({ status }) => status !== 503);
  const silent = answers.filter(({ status, headers }) => status === 503 && !headers['retry-after']);
  const slow = answers.filter((answer) => durationMs(answer) > answeredWithinMs);
  return {
    figures: [
      ['requests without a connection', countBy(answers, ({ detail }) => detail)],
      ['answered after p50 / max', percentiles(answers.map(durationMs), [0.5, 1])],
    ],
    failures: [
      ...other.slice(0, 1).map(({ node, detail }) => `${node} answered ${detail} while it had no connection`),
      ...silent.slice(0, 1).map(({ node }) => `${node} did not say when to try again`),
      ...slow
        .slice(-1)
        .map((one) => `${one.node} took ${Math.round(durationMs(one))} ms to say that it has no connection`),
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
