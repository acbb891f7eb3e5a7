import { UsageError } from '../failure.ts';
import type { RouteProxy } from '../routes/find-routes.ts';
import { pathOf } from './clients.ts';

/** A route to a Git host, with the variable that holds the key. */
export interface GitRoute {
  proxy: RouteProxy;
  url: string;
  keyVariable: string;
}

/**
 * Settings that lead git to the routes, added to those that the environment has already. The key is in no argument and in
 * no URL: git runs a helper, which reads its variable.
 * @throws {UsageError} if the environment counts its settings wrongly.
 */
export function gitSettings(routes: readonly GitRoute[], { GIT_CONFIG_COUNT: counted }: NodeJS.ProcessEnv) {
  if (routes.length === 0) return {};
  if (!/^\d{0,6}$/.test(counted ?? '')) throw new UsageError('GIT_CONFIG_COUNT is set, and is no number');
  const first = Number(counted ?? 0);
  const pairs = routes.flatMap(pairsOf);
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(first + pairs.length) };
  for (const [index, [key, value]] of pairs.entries()) {
    variables[`GIT_CONFIG_KEY_${first + index}`] = key;
    variables[`GIT_CONFIG_VALUE_${first + index}`] = value;
  }
  return variables;
}

function pairsOf({ proxy, url, keyVariable }: GitRoute): [key: string, value: string][] {
  const { host, origin } = new URL(proxy.destination_url);
  const path = pathOf(proxy);
  const addresses = [`${origin}${path}/`, `git@${host}:${path && `${path.slice(1)}/`}`, `ssh://git@${host}${path}/`];
  const helper = `credential.${new URL(url).origin}.helper`;
  return [
    ...addresses.map((address): [string, string] => [`url.${url}/.insteadOf`, address]),
    // Empty: forgets the helpers of the person's own settings, which would store the key.
    [helper, ''],
    [helper, `!f() { if [ "$1" = get ]; then echo username=sluice; echo "password=$${keyVariable}"; fi; }; f`],
  ];
}
