// Checked by the compiler under --strict, as an ES module and as CommonJS.
import {
  List,
  type PermissionName,
  type Proxy as ProxyResource,
  Sluice,
  SluiceError,
  ValidationError,
} from '@sluice/sdk';

export async function proxies(baseUrl: string, apiKey: string): Promise<string[]> {
  const sluice = new Sluice({ baseUrl, apiKey, timeoutMs: 5_000, retries: 0 });
  const list = sluice.proxies.list({ name: 'pay*', size: 50 });
  if (!(list instanceof List)) throw new TypeError('never');
  const names: string[] = [];
  for await (const proxy of list) names.push(proxy.name satisfies ProxyResource['name']);
  const total: number = (await list.page(1)).pagination.total_items;
  return total === names.length ? names : [];
}

export async function rename(sluice: Sluice, id: string, name: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(1_000);
    const proxy = await sluice.proxies.get(id, { signal });
    await sluice.proxies.update(id, { ...proxy, name }, { idempotencyKey: `rename-${id}` });
    return 'renamed';
  } catch (error) {
    if (error instanceof ValidationError) return Object.keys(error.errors ?? {}).join(', ');
    return error instanceof SluiceError ? `${error.status} ${error.title} ${error.traceId}` : 'not of the service';
  }
}

/** A client of the destination accepts the Proxy's fetch as its own. */
export const fetchOf = (sluice: Sluice, key: string): typeof fetch => sluice.proxy(key).fetch;

// @ts-expect-error the type must be one of three
export const wrongType = (sluice: Sluice) => sluice.applications.create({ name: 'a', type: 'robot' });
export const wrongMember = (sluice: Sluice) => {
  const url = 'https://api.example.com';
  // @ts-expect-error there is no such member
  return sluice.proxies.create({ name: 'a', destination_url: url, destinaton_url: url });
};
export const wrongPermission = (sluice: Sluice) => {
  const rule = { priority: 1, container: '/pci/', transform: 'mask' } as const;
  // @ts-expect-error there is no such permission
  return sluice.applications.create({ name: 'a', type: 'private', rules: [{ ...rule, permissions: ['token:raed'] }] });
};
export const wrongPermissions = (sluice: Sluice, id: string) =>
  // @ts-expect-error nor here
  sluice.applications.update(id, { name: 'a', permissions: ['token:use', 'tokens:read'] });
/** What a list names can be granted. */
export const allOf = async (sluice: Sluice, id: string) => {
  const permissions: PermissionName[] = (await sluice.permissions.list().toArray()).map(({ type }) => type);
  return sluice.applications.update(id, { ...(await sluice.applications.get(id)), permissions });
};
// @ts-expect-error an id is text
export const wrongId = (sluice: Sluice) => sluice.tokens.get(7);
