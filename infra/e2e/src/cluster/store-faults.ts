import { readdir } from 'node:fs/promises';
import { parentOf, untilEnded } from '@sluice/local/parts';
import { type Frozen, freeze } from './frozen.ts';
import type { Site } from './site.ts';

export type StoreName = 'redis' | 'postgres';

/** Ends a store as `kill -9` does; `site.stores.restart` starts it again. */
export async function killStore(site: Site, name: StoreName): Promise<void> {
  const store = processOf(site, name);
  store.kill('SIGKILL');
  await untilEnded(store);
}

/** Stops a store as SIGSTOP does, with the server processes of its clients. */
export async function freezeStore(site: Site, name: StoreName): Promise<Frozen> {
  const { pid } = processOf(site, name);
  // First the one that makes others, so that none is missed.
  const parent = await freeze(pid);
  const children = await childrenOf(pid);
  if (children.length === 0) return parent;
  const frozen = await freeze(...children).catch(async (error: unknown) => {
    await parent.thaw();
    throw error;
  });
  return {
    async thaw() {
      await Promise.all([frozen.thaw(), parent.thaw()]);
    },
  };
}

function processOf({ stores }: Site, name: StoreName) {
  const store = stores.processes.get(name);
  if (!store?.pid) throw new Error(`There is no ${name} of ours`);
  return Object.assign(store, { pid: store.pid });
}

/** proc(5) */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => parentOf(pid)?.pid === parent);
}
