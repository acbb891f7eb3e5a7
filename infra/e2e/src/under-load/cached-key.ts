import { openProbes, type Probes } from './probes.ts';
import type { World } from './world.ts';

const rule = {
  description: 'all',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:use', 'token:read', 'token:create'],
};

/** An Application whose key is in no cache yet. */
export function createUnusedKey({ manage }: World, name: string): Promise<{ key: string }> {
  return manage('POST', '/applications', { name, type: 'private', rules: [rule] });
}

/** Uses a key that each gateway and token vault has in its cache, and that nobody changes, until the probes are stopped. */
export async function useCachedKey(world: World): Promise<Probes> {
  const { key } = await createUnusedKey(world, 'Cached');
  const probes = openProbes(world);
  const targets = [...world.of('proxy-gateway'), ...world.of('token-vault')];
  await Promise.all(targets.map((target) => probes.probe(key, target)));
  for (const target of targets) probes.start(key, [target]);
  return probes;
}
