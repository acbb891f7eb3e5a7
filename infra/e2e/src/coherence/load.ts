import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { createRandom, type Random } from '../random.ts';
import type { ApplicationView, Client } from './client.ts';

export interface LoadOptions {
  client: Client;
  management: () => readonly Node[];
  /** The processes that take keys, at this moment. */
  targets: () => readonly Node[];
  readers: number;
  /** Between two regenerations of one Application, on the average; 50 by default. */
  regenerationPauseMs?: number;
  seed: number;
}

export interface Load {
  /** Rejects when a client broke: that is a fault of the test. */
  broken: Promise<never>;
  /** Resolves when every client has its last answer. */
  stop(): Promise<void>;
}

const pauseAfterFailureMs = 250;
const pauseBetweenInvocationsMs = 40;

interface Probe {
  application: ApplicationView;
  key: number;
  target: Node;
}

/** For each Application one client that regenerates its key, and readers that use any key of any Application anywhere. */
export function startLoad(options: LoadOptions): Load {
  const { client, management, targets, readers, regenerationPauseMs = 50, seed } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  /** What was revoked just now: the first to be tried. */
  const probes: Probe[] = [];

  async function regenerate(application: ApplicationView): Promise<void> {
    const random = createRandom(seed + 1000 + application.index);
    let writer = random.pick(management());
    while (!signal.aborted) {
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
    }
  }

  async function read(reader: number): Promise<void> {
    const random = createRandom(seed + 2000 + reader);
    while (!signal.aborted) {
      const { application, key, target } = probes.shift() ?? choose(random, client.applications, targets());
      await client.invoke(application, key, target);
      await wait(random.between(0, 2 * pauseBetweenInvocationsMs));
    }
  }

  const clients = [
    ...client.applications.map(regenerate),
    ...Array.from({ length: readers }, (_, reader) => read(reader)),
  ];
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  for (const each of clients) each.catch(reject);
  return {
    broken,
    async stop() {
      stopping.abort();
      await Promise.all(clients);
    },
  };
}

function choose(random: Random, applications: readonly ApplicationView[], targets: readonly Node[]): Probe {
  const application = random.pick(applications);
  const { newest, revoked } = application;
  const isNewest = revoked.length === 0 || random.chance(0.7);
  const older = random.chance(0.7) ? revoked.slice(-1) : revoked.slice(-20);
  return { application, key: isNewest ? newest : random.pick(older), target: random.pick(targets) };
}
