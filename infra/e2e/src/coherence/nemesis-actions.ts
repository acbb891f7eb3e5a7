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
  kills?: true;
  run(context: ActionContext): Promise<void>;
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

async function restartRedis(site: Site): Promise<void> {
  await killStore(site, 'redis');
  await site.stores.restart('redis');
}

async function freezeRedis({ site, random }: ActionContext): Promise<void> {
  const frozen = await freezeStore(site, 'redis');
  await aWhile(random);
  await frozen.thaw();
}

/** A backend may end by itself between the look and the deed, and Postgres may be too disturbed to be asked. */
async function withBackend({ site, random }: ActionContext, act: (pid: number) => Promise<void>): Promise<void> {
  const backends = await listBackends(site).catch(() => []);
  if (backends.length > 0) await act(random.pick(backends)).catch(() => undefined);
}

export const actions: readonly Action[] = [
  { name: 'freeze', weight: 3, on: 'holder', run: (context) => whileFrozen(context, () => undefined) },
  {
    name: 'freeze-and-cut-redis',
    weight: 3,
    on: 'holder',
    run: (context) => whileFrozen(context, () => context.node.redis.cut()),
  },
  {
    name: 'freeze-and-cut-postgres',
    weight: 1,
    on: 'holder',
    run: (context) => whileFrozen(context, () => context.node.postgres.cut()),
  },
  { name: 'kill-and-restart', weight: 2, on: 'holder', kills: true, run: ({ node, random }) => restart(node, random) },
  {
    name: 'kill-and-restart-writer',
    weight: 1,
    on: 'writer',
    kills: true,
    run: ({ node, random }) => restart(node, random),
  },
  { name: 'stall-redis-connections', weight: 2, on: 'any node', run: ({ node, random }) => stall(node.redis, random) },
  {
    name: 'stall-postgres-connections',
    weight: 3,
    on: 'any node',
    run: ({ node, random }) => stall(node.postgres, random),
  },
  { name: 'delay-redis', weight: 2, on: 'any node', run: ({ node, random }) => delay(node.redis, random) },
  { name: 'delay-postgres', weight: 3, on: 'any node', run: ({ node, random }) => delay(node.postgres, random) },
  { name: 'cut-redis', weight: 2, on: 'any node', run: async ({ node }) => node.redis.cut() },
  { name: 'cut-postgres', weight: 2, on: 'any node', run: async ({ node }) => node.postgres.cut() },
  { name: 'freeze-redis', weight: 2, on: 'redis', run: freezeRedis },
  { name: 'kill-redis', weight: 1, on: 'redis', run: ({ site }) => restartRedis(site) },
  {
    name: 'kill-subscriptions',
    weight: 2,
    on: 'redis',
    run: async ({ site }) => void (await sendRedisCommand(site, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
  },
  {
    name: 'freeze-backend',
    weight: 2,
    on: 'postgres',
    run: (context) =>
      withBackend(context, async (pid) => {
        const frozen = await freeze(pid);
        await aWhile(context.random);
        await frozen.thaw();
      }),
  },
  {
    name: 'terminate-backend',
    weight: 3,
    on: 'postgres',
    run: (context) => withBackend(context, async (pid) => void (await terminateBackend(context.site, pid))),
  },
];
