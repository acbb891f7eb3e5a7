import { connectPostgres, type HttpAnswer } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { countDetails, durationMs, percentiles } from '../under-load/count.ts';
import { createUnusedKey, useCachedKey } from '../under-load/probes.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const poolSize = 4;

/** Several leases, and less than a statement may take. */
const lastsMs = 7000;
const settlesMs = 500;
/** A second is promised; the other is for a machine that has other things to do. */
const answeredWithinMs = 1000 + 1000;
const askedEach = 5;

export const poolExhausted = underLoad(
  'pool-exhausted',
  'all connections to Postgres are held for 7 s: cached keys are served, all else is 503 within a second',
  {
    environment: { DATABASE_POOL_SIZE: String(poolSize) },
    async disturb(world) {
      const { nodes, pause, report } = world;
      // New to every process: to look one up takes a connection; several look-ups of one would share it.
      const keys = await Promise.all(
        Array.from({ length: poolSize + askedEach }, (_, number) => createUnusedKey(world, `New ${number}`)),
      );
      const cached = await useCachedKey(world);
      await using client = await connectPostgres(world.stores.databaseUrl);
      // What needs these tables waits: keys that are not cached, and everything that creates.
      await client.query('begin; lock table applications, tokens in access exclusive mode');
      const asked = nodes.filter(({ service }) => service !== 'worker');
      const ask = (some: typeof keys) =>
        Promise.all(asked.flatMap((node) => some.map(({ key }) => send(world, node, key))));
      void ask(keys.slice(0, poolSize)); // they take all connections
      await pause(settlesMs);
      const startedAt = performance.now();
      const answers = await ask(keys.slice(poolSize));
      await pause(Math.max(0, lastsMs - settlesMs - (performance.now() - startedAt)));
      judgeAnswers(world, answers);
      world.judges.push(async () => {
        await cached.stop();
        const failed = cached.seen.filter(({ detail }) => detail !== '200');
        report.figure('use of a cached key', countDetails(cached.seen));
        report.failForEach(failed, ({ target, detail }) => `a cached key was not served: ${target} answered ${detail}`);
        report.failIf(cached.seen.length === 0, 'the cached key was never used');
      });
    },
  },
);

type Answered = HttpAnswer & { node: string };

async function send({ http, invoke, client, credentials }: World, node: Node, key: string): Promise<Answered> {
  const timeoutMs = 15_000;
  const create = () =>
    http.send({
      ...{ method: 'POST', url: `${node.url}/applications`, key: credentials.management_key, timeoutMs },
      body: { name: 'Waits', type: 'private', permissions: ['token:use'] },
    });
  const use = () => invoke(node, { key, proxyKey: client.proxyKey, timeoutMs });
  return { ...(await (node.service === 'management-api' ? create() : use())), node: node.name };
}

function judgeAnswers({ report }: World, answers: readonly Answered[]): void {
  report.figure('requests without a connection', countDetails(answers));
  report.figure('answered after p50 / max', percentiles(answers.map(durationMs), [0.5, 1]));
  const other = answers.filter(({ status }) => status !== 503);
  report.failForEach(other, ({ node, detail }) => `${node} answered ${detail} while it had no connection`);
  const silent = answers.filter(({ status, headers }) => status === 503 && !headers['retry-after']);
  report.failForEach(silent, ({ node }) => `${node} did not say when to try again`);
  const slow = answers.filter((answer) => durationMs(answer) > answeredWithinMs);
  const inMs = (one: Answered) => `${Math.round(durationMs(one))} ms`;
  report.failForEach(slow, (one) => `${one.node} took ${inMs(one)} to say that it has no connection`);
}
