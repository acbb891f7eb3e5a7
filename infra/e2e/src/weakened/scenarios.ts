import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import type { Client } from '../coherence/client.ts';
import type { SignInEnd, SignIns } from '../coherence/sign-ins.ts';
import { type ApplicationView, forgetNewest } from '../coherence/single-keys.ts';
import type { Mutant } from './mutants.ts';

export interface Scene {
  client: Client;
  application: ApplicationView;
  management: Node;
  gateway: Node;
  vault: Node;
  signIns: SignIns;
}

/** A few seconds in which one weakness would show, and the whole protocol holds. */
export type Scenario = (scene: Scene) => Promise<void>;

const longerThanLeaseMs = 2600;

/** Late, but within the gateway's time limit. */
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

/** The response to a renewal is late, and none follows: Postgres ends the lease before its late holder does. */
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

/**
 * A second key that the gateway knows, or a session that it authorizes, ends: it must be refused then, and the first key
 * must not.
 * @param expiresInMs when the key expires, without being deleted; the session would last much longer.
 */
const endedKey =
  ({ isSession = false, expiresInMs }: { isSession?: boolean; expiresInMs?: number }): Scenario =>
  async (scene) => {
    const { client, application, management } = scene;
    const added = await client.singleKeys.add(application, management, expiresInMs ?? 60_000);
    if (!added) throw new Error('The key was not added');
    if (isSession) await client.singleKeys.replaceBySession(application, added, management);
    await useNewestKey(scene);
    if (expiresInMs) await wait(added.expiredAt - performance.now());
    else await client.singleKeys.delete(application, added, management);
    forgetNewest(application);
    await tryKey(scene, added.number, 200);
    await tryKey(scene, 0, 200);
  };

const deletedSingleKey = endedKey({});

/** A sign-in that every process has cached ends. It is refused, and another one is not. */
const endedSignIn =
  (end: SignInEnd): Scenario =>
  async ({ signIns, management, vault }) => {
    const signIn = await signIns.add(end, management);
    if (!signIn) throw new Error('Nobody could sign in');
    const targets = signIns.targetsOf(end, [management, vault]);
    for (const target of targets) await signIns.use(end, signIn, target);
    await signIns.end(signIn, management);
    for (const who of [signIn, undefined]) {
      for (const target of targets) await signIns.use(end, who, target);
    }
  };

const aimedAt: Record<string, Scenario> = {
  'answers-without-waiting': lateAnnouncements,
  'leaves-expired-leases': sleptPastItsLease,
  'renews-by-upsert': sleptPastItsLease,
  'counts-lease-from-receipt': lateRenewal,
  'keeps-overtaken-fills': overtakenRead,
  'announces-no-deleted-key': deletedSingleKey,
  'deletes-all-keys': deletedSingleKey,
  'caches-keys-past-their-expiry': endedKey({ expiresInMs: 3000 }),
  'announces-nothing-to-sessions': endedKey({ isSession: true }),
  'sessions-outlive-their-key': endedKey({ isSession: true, expiresInMs: 4000 }),
  'announces-another-than-removed': endedSignIn('removed'),
  'demotes-on-paper': endedSignIn('demoted'),
  'announces-no-sign-out': endedSignIn('signed out'),
  'announces-no-deleted-key-to-sign-ins': endedSignIn('key deleted'),
};

export function scenarioOf({ name }: Mutant): Scenario {
  const scenario = aimedAt[name];
  if (!scenario) throw new Error(`There is no scenario for mutant ${name}`);
  return scenario;
}

/** Until the gateway has taken the newest key, so that its caches hold it and the Proxy. */
async function useNewestKey({ client, application, gateway }: Scene): Promise<void> {
  const isTaken = async () => (await client.invoke(application, application.newest, gateway)).outcome === 'accepted';
  for (let taken = 0; taken < 2; taken++) await eventually(`${gateway.name} takes the newest key`, isTaken);
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
