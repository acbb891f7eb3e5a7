import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { type ApplicationView, forgetNewest } from '../coherence/application-view.ts';
import type { Client } from '../coherence/client.ts';

interface Scene {
  client: Client;
  application: ApplicationView;
  management: Node;
  gateway: Node;
}

/** A few seconds in which one weakness would show, and the whole protocol holds. */
export type Scenario = (scene: Scene) => Promise<void>;

/** Past the end of any lease. */
const longerThanLeaseMs = 2600;

/** So late that the gateway just takes it for an answer. */
const lateMs = 800;

/** Announcements come late: who does not wait for them answers while the old key is still cached. */
const lateAnnouncements: Scenario = async (scene) => {
  const { gateway } = scene;
  await useNewestKey(scene);
  gateway.redis.disturb({ latencyMs: 500 }, 'to-client');
  await regenerateAndTry(scene, 400);
};

/** A gateway sleeps past its lease and misses an announcement: what is left of its lease must not bring its cache back. */
const sleptPastItsLease: Scenario = async (scene) => {
  const { client, application, management, gateway } = scene;
  await useNewestKey(scene);
  const frozen = await gateway.freeze();
  const revoked = application.newest;
  try {
    await wait(longerThanLeaseMs);
    gateway.redis.cut();
    await client.regenerate(application, management);
  } finally {
    await frozen.thaw();
  }
  await tryKey(scene, revoked, 1500);
};

/** The answer to a renewal comes late, and then nothing more: by then Postgres has let the lease run out sooner. */
const lateRenewal: Scenario = async (scene) => {
  const { gateway } = scene;
  await useNewestKey(scene);
  gateway.redis.stall();
  await renewalIsSent(gateway, () => gateway.postgres.stall('to-client'));
  await wait(lateMs);
  gateway.postgres.calm();
  await wait(40);
  gateway.postgres.stall();
  await regenerateAndTry(scene, 900);
};

/** A read of the old state is overtaken by the change: what it brings must not be kept. */
const overtakenRead: Scenario = async (scene) => {
  const { client, application, management, gateway } = scene;
  await useNewestKey(scene);
  await client.regenerate(application, management); // a key that the gateway has not seen yet
  gateway.postgres.disturb({ latencyMs: 700 }, 'to-client');
  const reading = client.invoke(application, application.newest, gateway);
  await wait(100);
  const revoked = application.newest;
  await client.regenerate(application, management);
  await reading;
  gateway.postgres.calm();
  await tryKey(scene, revoked, 400);
};

/** A second key, known to the gateway, is deleted: it must be refused then, and the first must not. */
const deletedSingleKey: Scenario = async (scene) => {
  const { client, application, management } = scene;
  const added = await client.singleKeys.add(application, management, 60_000);
  if (!added) throw new Error('The key was not added');
  await useNewestKey(scene);
  await client.singleKeys.delete(application, added, management);
  forgetNewest(application);
  await tryKey(scene, added.number, 200);
  await tryKey(scene, 0, 200);
};

/** The same for one that expires. */
const expiredSingleKey: Scenario = async (scene) => {
  const { client, application, management } = scene;
  const added = await client.singleKeys.add(application, management, 3000);
  if (!added) throw new Error('The key was not added');
  await useNewestKey(scene);
  await wait(added.expiredAt - performance.now());
  forgetNewest(application);
  await tryKey(scene, added.number, 200);
  await tryKey(scene, 0, 200);
};

/** A session, known to the gateway, ends with the key that authorized it when that is deleted. */
const sessionOfDeletedKey: Scenario = async (scene) => {
  const { client, application, management } = scene;
  const added = await addSession(scene, 60_000);
  await useNewestKey(scene);
  await client.singleKeys.delete(application, added, management);
  forgetNewest(application);
  await tryKey(scene, added.number, 200);
  await tryKey(scene, 0, 200);
};

/** The same when that key expires, long before the session would. */
const sessionOfExpiredKey: Scenario = async (scene) => {
  const { application } = scene;
  const added = await addSession(scene, 4000);
  await useNewestKey(scene);
  await wait(added.expiredAt - performance.now());
  forgetNewest(application);
  await tryKey(scene, added.number, 200);
  await tryKey(scene, 0, 200);
};

/** The scenario that is aimed at a mutant. */
export const scenarioOf: Record<string, Scenario> = {
  'answers-without-waiting': lateAnnouncements,
  'leaves-expired-leases': sleptPastItsLease,
  'renews-by-upsert': sleptPastItsLease,
  'counts-lease-from-receipt': lateRenewal,
  'keeps-overtaken-fills': overtakenRead,
  'announces-no-deleted-key': deletedSingleKey,
  'deletes-all-keys': deletedSingleKey,
  'caches-keys-past-their-expiry': expiredSingleKey,
  'announces-nothing-to-sessions': sessionOfDeletedKey,
  'sessions-outlive-their-key': sessionOfExpiredKey,
};

export const scenarios: readonly Scenario[] = [...new Set(Object.values(scenarioOf))];

async function addSession({ client, application, management }: Scene, keyLifeMs: number) {
  const added = await client.singleKeys.add(application, management, keyLifeMs);
  if (!added) throw new Error('The key was not added');
  await client.singleKeys.replaceBySession(application, added, management);
  return added;
}

/** Until the gateway has taken the newest key, so that its caches hold it and the Proxy. */
async function useNewestKey({ client, application, gateway }: Scene): Promise<void> {
  const until = performance.now() + 30_000;
  for (let taken = 0; taken < 2; ) {
    if (performance.now() > until) throw new Error(`${gateway.name} does not take the newest key`);
    const { outcome } = await client.invoke(application, application.newest, gateway);
    if (outcome === 'accepted') taken += 1;
    else await wait(50);
  }
}

async function regenerateAndTry(scene: Scene, ms: number): Promise<void> {
  const { client, application, management } = scene;
  const revoked = application.newest;
  await client.regenerate(application, management);
  await tryKey(scene, revoked, ms);
}

async function tryKey({ client, application, gateway }: Scene, key: number, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    await client.invoke(application, key, gateway);
    await wait(20);
  }
}

function renewalIsSent({ postgres }: Node, atOnce: () => void): Promise<void> {
  return new Promise((resolve) => {
    const stop = postgres.observe(({ direction, chunk }) => {
      if (direction !== 'to-server' || !chunk.includes('update cache_leases')) return;
      stop();
      atOnce();
      resolve();
    });
  });
}
