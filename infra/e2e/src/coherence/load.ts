import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { type Clients, repeating, startClients } from '../under-load/clients.ts';
import type { LoadShape, World } from '../under-load/world.ts';
import { type ApplicationView, forgetNewest } from './single-keys.ts';

const pauseAfterFailureMs = 250;
const pauseBetweenInvocationsMs = 40;

interface Probe {
  application: ApplicationView;
  key: number;
  target: Node;
}

/** Single keys live for so long unless they are deleted before; longer than a busy machine takes to receive a request. */
const lifeMs = { shortest: 1000, longest: 2000, ofDeleted: 8000 };

/**
 * Creates Applications, for each one client that regenerates its key, or adds single keys and ends them, and readers
 * that use any of these keys anywhere.
 */
export async function startLoad(world: World, shape: LoadShape): Promise<Clients> {
  const { client, balancer } = world;
  const { readers, regenerationPauseMs, isBalanced, patienceMs } = shape;
  const of = isBalanced ? balancer.targets : world.of;
  const management = () => of('management-api');
  const targets = () => [...of('proxy-gateway'), ...of('token-vault')];
  /** What was revoked just now: the first to be tried. */
  const probes: Probe[] = [];
  const applications = await client.createApplications(shape.applications);
  const severalKeys = await client.createApplications(shape.severalKeys);
  const first = applications[0]?.index ?? 0;
  const readable = [...applications, ...severalKeys];

  function regenerate(application: ApplicationView) {
    const random = world.random(1000 + application.index);
    let writer = random.pick(management());
    return repeating(async () => {
      await wait(random.between(0, 2 * regenerationPauseMs));
      const revoked = application.newest;
      if (!management().includes(writer)) writer = random.pick(management());
      const { outcome } = await client.regenerate(application, writer);
      if (outcome === 'confirmed') {
        probes.push({ application, key: revoked, target: random.pick(targets()) });
      } else {
        writer = random.pick(management());
        await wait(pauseAfterFailureMs);
      }
    });
  }

  function addAndEnd(application: ApplicationView) {
    const random = world.random(4000 + application.index);
    return repeating(async () => {
      await wait(random.between(0, 2 * regenerationPauseMs));
      const willExpire = random.chance(0.5);
      const life = willExpire ? random.between(lifeMs.shortest, lifeMs.longest) : lifeMs.ofDeleted;
      const added = await client.singleKeys.add(application, random.pick(management()), life);
      if (!added) return wait(pauseAfterFailureMs);
      if (willExpire) {
        await wait(Math.max(0, added.expiredAt - performance.now()));
      } else {
        await wait(random.between(lifeMs.shortest / 2, lifeMs.longest / 2));
        await client.singleKeys.delete(application, added, random.pick(management()));
      }
      forgetNewest(application);
      for (const key of [added.number, 0]) probes.push({ application, key, target: random.pick(targets()) });
    });
  }

  function read(reader: number) {
    const random = world.random(2000 + 100 * first + reader);
    return repeating(async () => {
      const { application, key, target } = probes.shift() ?? choose(random, readable, targets());
      await client.invoke(application, key, target, patienceMs(random));
      await wait(random.between(0, 2 * pauseBetweenInvocationsMs));
    });
  }

  return startClients([
    ...applications.map(regenerate),
    ...severalKeys.map(addAndEnd),
    ...Array.from({ length: readers }, (_, reader) => read(reader)),
  ]);
}

function choose(random: Random, applications: readonly ApplicationView[], targets: readonly Node[]): Probe {
  const application = random.pick(applications);
  const { newest, revoked } = application;
  const isNewest = revoked.length === 0 || random.chance(0.7);
  const older = random.chance(0.7) ? revoked.slice(-1) : revoked.slice(-20);
  return { application, key: isNewest ? newest : random.pick(older), target: random.pick(targets) };
}
