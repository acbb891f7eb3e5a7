import type { Proxy as ProxyResource, Sluice } from '@sluice/sdk';
import { UsageError } from '../failure.ts';

/** A Proxy that has a route. */
export type RouteProxy = ProxyResource & { path_name: string };

const pathName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** A session names at most this many Proxies. */
const mostRoutes = 100;

/** The names in `a,b`, each once, in their order. @throws {UsageError} */
export function readRouteNames(text: string | undefined): string[] {
  const names = [...new Set((text ?? '').split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length === 0)
    throw new UsageError('--routes is missing. Give the path_name of each Proxy, for example --routes a,b');
  if (names.length > mostRoutes) throw new UsageError(`--routes names more than ${mostRoutes} routes`);
  if (!names.every((name) => pathName.test(name)))
    throw new UsageError('--routes has a name that no route can have: lower-case letters, digits and dashes only');
  return names;
}

/**
 * The Proxies of these routes, in this order. The management key needs `proxy:read`, and gets their configuration too.
 * @throws {UsageError} that names the routes that do not exist.
 */
export async function findRoutes(
  management: Sluice,
  names: readonly string[],
  signal: AbortSignal,
): Promise<RouteProxy[]> {
  const found = new Map<string, RouteProxy>();
  for (const name of names) {
    const { data } = await management.proxies.list({ path_name: name }, { signal }).page();
    // Compared again, because a service of a former version does not know the filter.
    for (const proxy of data) if (proxy.path_name === name) found.set(name, { ...proxy, path_name: name });
  }
  const missing = names.filter((name) => !found.has(name));
  if (missing.length > 0) {
    throw new UsageError(
      `There is no route ${missing.join(', ')}. "sluice proxies list" shows the path_name of each Proxy.`,
    );
  }
  return [...found.values()];
}
