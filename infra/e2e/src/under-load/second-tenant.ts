import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '@sluice/local/parts';
import type { World } from './world.ts';

const permissions = ['token:create', 'token:read', 'token:use'];
const rules = [{ description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }];

/** Creates another Tenant; the world as it is for that one. */
export async function openSecondTenant(world: World): Promise<World> {
  const { site } = world;
  const directory = join(site.directory, 'second-tenant');
  await mkdir(directory);
  const bounds = { signal: site.signal, watchdog: site.watchdog };
  const credentials = await readCredentials({ directory, baseUrl: '', settings: site.settings }, bounds);
  const headers = { 'svc-api-key': credentials.management_key, 'content-type': 'application/json' };
  const manage: World['manage'] = async (method, path, body) => {
    const url = `${world.of('management-api')[0]?.url}${path}`;
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; key: string };
  };
  const { key } = await manage('POST', '/applications', { name: 'Second', type: 'private', rules });
  return { ...world, site: { ...site, credentials }, manage, tokenKey: key };
}
