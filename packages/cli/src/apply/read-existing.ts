import type { Sluice } from '@sluice/sdk';
import type { Existing } from './plan.ts';

export async function readExisting(sluice: Sluice, signal: AbortSignal): Promise<Existing> {
  const [applications, proxies] = await Promise.all([
    sluice.applications.list({ size: 100 }, { signal }).toArray(),
    sluice.proxies.list({ size: 100 }, { signal }).toArray(),
  ]);
  return { applications, proxies };
}

export async function tenantIdOf(sluice: Sluice, signal: AbortSignal): Promise<string> {
  return (await sluice.applications.getByKey({ signal })).tenant_id;
}
