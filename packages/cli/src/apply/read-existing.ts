import type { Sluice } from '@sluice/sdk';
import { readAll } from '../read-all.ts';
import type { Existing } from './plan.ts';

export async function readExisting(sluice: Sluice, signal: AbortSignal): Promise<Existing> {
  const [applications, proxies] = await Promise.all([
    readAll((size) => sluice.applications.list({ size }, { signal })),
    readAll((size) => sluice.proxies.list({ size }, { signal })),
  ]);
  return { applications, proxies };
}

export async function tenantIdOf(sluice: Sluice, signal: AbortSignal): Promise<string> {
  return (await sluice.applications.getByKey({ signal })).tenant_id;
}
