import { setTimeout as wait } from 'node:timers/promises';
import { type ChaosProxy, directions, type Random } from '@sluice/testing';
import { freeze } from '../cluster/frozen.ts';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { freezeStore, killStore, listBackends, sendRedisCommand, terminateBackend } from '../cluster/stores.ts';

interface ActionContext {
  site: Site;
  random: Random;
  node: Node;
}

export interface Action {
  name: string;
  weight: number;
  /** What it needs for itself: two faults of one thing at once would undo each other. */
  on: 'holder' | 'writer' | 'any node' | 'redis' | 'postgres';
  kills: boolean;
  run(context: ActionContext): Promise<unknown>;
}

/** From 0.1 to 5 s, mostly short. */
const aWhile = (random: Random) => wait(100 + 4900 * random.next() ** 2.5);

async function whileFrozen({ random, node }: ActionContext, meanwhile: () => Promise<void> | void): Promise<void> {
  const frozen = await node.freeze();
  try {
    await wait(random.between(50, 300));
    await meanwhile();
    await aWhile(random);
  } finally {
    await frozen.thaw();
  }
}

async function disturbed(proxy: ChaosProxy, random: Random, begin: () => void): Promise<void> {
  begin();
  await aWhile(random);
  proxy.calm();
}

const stall = (proxy: ChaosProxy, random: Random) =>
  disturbed(proxy, random, () => proxy.stall(random.pick([undefined, ...directions])));

const delay = (proxy: ChaosProxy, random: Random) =>
  disturbed(proxy, random, () => {
    const latencyMs = random.between(5, 400);
    proxy.disturb({ latencyMs, jitterMs: latencyMs }, random.pick([undefined, ...directions]));
  });

async function restart(node: Node, random: Random): Promise<void> {
  await node.kill();
  await wait(random.between(0, 500));
  await node.restart();
}

/** A backend may end by itself between the look and the deed, and Postgres may be too disturbed to be asked. */
async function withBackend({ site, random }: ActionContext, act: (pid: number) => Promise<unknown>): Promise<void> {
  const backends = await listBackends(site).catch(() => []);
  if (backends.length > 0) await act(random.pick(backends)).catch(() => undefined);
}

const action = (name: string, weight: number, on: Action['on'], run: Action['run'], kills = false): Action => ({
  ...{ name, weight, on, run, kills },
});

export const actions: readonly Action[] = [
  action('freeze', 3, 'holder', (context) => whileFrozen(context, () => undefined)),
  action('freeze-and-cut-redis', 3, 'holder', (context) => whileFrozen(context, () => context.node.redis.cut())),
  action('freeze-and-cut-postgres', 1, 'holder', (context) => whileFrozen(context, () => context.node.postgres.cut())),
  action('kill-and-restart', 2, 'holder', ({ node, random }) => restart(node, random), true),
  action('kill-and-restart-writer', 1, 'writer', ({ node, random }) => restart(node, random), true),
  action('stall-redis-connections', 2, 'any node', ({ node, random }) => stall(node.redis, random)),
  action('stall-postgres-connections', 3, 'any node', ({ node, random }) => stall(node.postgres, random)),
  action('delay-redis', 2, 'any node', ({ node, random }) => delay(node.redis, random)),
  action('delay-postgres', 3, 'any node', ({ node, random }) => delay(node.postgres, random)),
  action('cut-redis', 2, 'any node', async ({ node }) => node.redis.cut()),
  action('cut-postgres', 2, 'any node', async ({ node }) => node.postgres.cut()),
  action('freeze-redis', 2, 'redis', async ({ site, random }) => {
    const frozen = await freezeStore(site, 'redis');
    await aWhile(random);
    await frozen.thaw();
  }),
  action('kill-redis', 1, 'redis', async ({ site }) => {
    await killStore(site, 'redis');
    await site.stores.restart('redis');
  }),
  action('kill-subscriptions', 2, 'redis', ({ site }) => sendRedisCommand(site, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
  action('freeze-backend', 2, 'postgres', (context) =>
    withBackend(context, async (pid) => {
      const frozen = await freeze(pid);
      await aWhile(context.random);
      await frozen.thaw();
    }),
  ),
  action('terminate-backend', 3, 'postgres', (context) =>
    withBackend(context, (pid) => terminateBackend(context.site, pid)),
  ),
];
