import { type HostSettings, hostSettings } from './hosts.ts';

export interface OwnHosts {
  /** Of `BASE_URL`; undefined without it. */
  baseOrigin: string | undefined;
  baseHost: string | undefined;
  /** Whether it is the host of the console, of the fields, of `BASE_URL` or of routes; as {@link hostAndPort} writes it. */
  has(host: string): boolean;
}

/** Their ports count, because a destination may use another port of the same machine. */
export function ownHostsFrom({ BASE_URL: url, ...settings }: HostSettings): OwnHosts {
  const { origin: baseOrigin, host } = (url === undefined ? undefined : URL.parse(url)) ?? {};
  const baseHost = host === undefined ? undefined : hostAndPort(host);
  const named = Object.keys(hostSettings).map((name) => settings[name as keyof typeof settings]);
  const exact = new Set([baseHost, ...named.map((name) => (name === undefined ? undefined : hostAndPort(name)))]);
  const routes = settings.ROUTES_HOST === undefined ? undefined : hostAndPort(settings.ROUTES_HOST);
  const has = (one: string) => exact.has(one) || (routes !== undefined && one.endsWith(`.${routes}`));
  return { baseOrigin, baseHost, has };
}

/**
 * A `Host` in one spelling: lower case, without a final dot, without a default port. http and https count as one, because
 * a load balancer answers the first by a redirect to the second. Undefined if it is not a host with an optional port.
 */
export function hostAndPort(text: string): string | undefined {
  if (!hostLike.test(text)) return undefined;
  const host = URL.parse(`http://${text}`)?.host;
  return host?.replace(/\.?(?::(?:80|443))?$/, '').replace(/\.(:\d+)$/, '$1');
}

const hostLike = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;
