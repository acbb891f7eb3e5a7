import { UsageError } from '../failure.ts';
import type { RouteProxy } from '../routes/find-routes.ts';
import { clientFor, pathOf, watchedVariables } from './clients.ts';
import { type GitRoute, gitSettings } from './git-settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `--env NAME=route:url` or `NAME=route:key`. */
interface NamedVariable {
  name: string;
  route: string;
  what: 'url' | 'key';
}

interface Wanted {
  /** Of the service, without a trailing slash. */
  url: string;
  proxies: readonly RouteProxy[];
  named: readonly NamedVariable[];
  env: Env;
}

export interface PlannedEnvironment {
  /** What the person should know before the command starts, as sentences. */
  notes: string[];
  withKey(key: string): Record<string, string>;
}

/** @throws {UsageError} */
export function readNamedVariables(texts: readonly string[], routes: readonly string[]): NamedVariable[] {
  return texts.map((text) => {
    const [, name = '', route = '', what] = /^([A-Za-z_]\w*)=([a-z0-9-]+):(url|key)$/.exec(text) ?? [];
    if (what !== 'url' && what !== 'key') throw new UsageError('--env must be NAME=route:url or NAME=route:key');
    if (isOurs(name)) throw new UsageError('--env must not set a variable that begins with SLUICE_');
    if (!routes.includes(route)) throw new UsageError(`--env has the route ${route}, but --routes does not have it`);
    return { name, route, what };
  });
}

/**
 * The environment of a command that may call these routes: that of the caller, without our own variables, and with a base
 * URL and a key for each route.
 * @throws {UsageError} if a route does not accept the key where its clients send it, or if two set one variable.
 */
export function planEnvironment({ url, proxies, named, env }: Wanted): PlannedEnvironment {
  const notes: string[] = [];
  const routes = proxies.map((proxy) => routeFor(proxy, url));
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
  const set = new Map<string, Value>();
  for (const { proxy, own, dropped } of routes) {
    for (const [name, value] of Object.entries(own)) {
      if (dropped.includes(name)) continue;
      const other = set.get(name);
      if (other) throw new UsageError(`The routes ${other.route} and ${proxy.path_name} would both set ${name}`);
      set.set(name, value);
    }
  }
  for (const host of new Set(routes.filter(hasClients).map(hostOf))) {
    const sameHost = routes.filter((route) => hasClients(route) && hostOf(route) === host);
    const [first, ...others] = sameHost;
    const chosen = others.length === 0 ? first : sameHost.find(isNamedLikeItsClients);
    // All variables or none: a key without the base URL of its route would be sent elsewhere.
    if (chosen) setForClients(set, chosen);
    else if (!sameHost.some((route) => isNamed(route, named))) notes.push(choiceOf(sameHost));
  }
  for (const { name, route, what } of named) {
    const value = routes.find(({ proxy }) => proxy.path_name === route)?.[what];
    if (value) set.set(name, value);
  }
  for (const { used, dropped } of routes) {
    for (const name of [...Object.keys(used), ...dropped]) if (!set.has(name)) removeFrom(inherited, name, notes);
  }
  const git = gitSettings(
    routes.flatMap(({ git }) => git ?? []),
    inherited,
  );
  const left = watchedVariables.filter((name) => inherited[name] && !set.has(name));
  if (left.length > 0)
    notes.push(`the command gets ${left.join(', ')} from your environment: unset those that are credentials`);
  notes.push(...routes.flatMap((route) => route.notes));
  return {
    notes,
    withKey: (key) => {
      const own = [...set].map(([name, value]) => [name, value.isKey ? key : value.text]);
      return Object.assign({}, inherited, Object.fromEntries(own), git);
    },
  };
}

/** Of a variable: the key of the session, or the text. */
type Value = { route: string } & ({ isKey: true } | { isKey: false; text: string });

interface PlannedRoute {
  proxy: RouteProxy;
  url: Value;
  key: Value;
  /** By the name of the route. */
  own: Record<string, Value>;
  /** That clients of its destination read. */
  used: Record<string, Value>;
  /** That these clients must not find beside `used`. */
  dropped: readonly string[];
  git?: GitRoute;
  notes: string[];
}

/** @throws {UsageError} that names `accept_key_as`. */
function routeFor(proxy: RouteProxy, baseUrl: string): PlannedRoute {
  const { path_name: route, accept_key_as: accepted = [] } = proxy;
  const client = clientFor(proxy);
  const place = client?.places.find((one) => accepted.includes(one));
  if (accepted.length === 0 || (client && !place)) {
    const places = client?.places.join('" or "') ?? 'bearer';
    const which = client
      ? `"${places}"`
      : 'the place in which clients send the key. For example, "bearer" is the header Authorization: Bearer';
    throw new UsageError(
      `The route ${route} does not accept the key where its clients send it. Set accept_key_as of the Proxy ${proxy.id} to ${which}.`,
    );
  }
  const name = prefixOf(route);
  const expected = client?.path ?? '';
  const text = `${baseUrl}/routes/${route}${pathOf(proxy).endsWith(expected) ? '' : expected}`;
  const url: Value = { route, isKey: false, text };
  const key: Value = { route, isKey: true };
  const variables = place && client?.variables?.[place];
  const used = variables ? { [variables.url]: url, [variables.key]: key } : {};
  // A client that finds two keys sends both, or takes the other one.
  const dropped = variables ? (client?.watched ?? []).filter((one) => !(one in used)) : [];
  const keyVariable = `${name}_API_KEY`;
  const notes = [
    ...(client?.isModel && proxy.token_places?.length !== 0
      ? [
          `the route ${route} replaces tokens in prompts, and may refuse a prompt that contains {{ as ordinary text. If no tokens are to be replaced, set token_places of its Proxy to []`,
        ]
      : []),
    ...(client?.unbound ? [`${route}: ${client.unbound}`] : []),
  ];
  return {
    ...{ proxy, url, key, used, dropped, notes },
    own: { [`${name}_BASE_URL`]: url, [keyVariable]: key },
    ...(client?.isGit && { git: { proxy, url: text, keyVariable } }),
  };
}

function hasClients({ used }: PlannedRoute): boolean {
  return Object.keys(used).length > 0;
}

function hostOf({ proxy }: PlannedRoute): string {
  return new URL(proxy.destination_url).hostname;
}

/** Such as a route `openai` to OpenAI, whose own variables its clients read. */
function isNamedLikeItsClients({ own, used }: PlannedRoute): boolean {
  return Object.keys(used).some((name) => name in own);
}

function isNamed({ used }: PlannedRoute, named: readonly NamedVariable[]): boolean {
  return Object.keys(used).every((name) => named.some((one) => one.name === name));
}

/** Sets what clients of the route read, unless another route has set a part of it by its name. */
function setForClients(set: Map<string, Value>, { proxy, used }: PlannedRoute): void {
  const variables = Object.entries(used);
  if (variables.some(([name]) => (set.get(name)?.route ?? proxy.path_name) !== proxy.path_name)) return;
  for (const [name, value] of variables) set.set(name, value);
}

/** The note for clients that could use any of several routes. */
function choiceOf(routes: readonly PlannedRoute[]): string {
  const names = new Set(routes.flatMap(({ used }) => Object.keys(used)));
  const [first] = routes;
  const example = Object.entries(first?.used ?? {}).map(
    ([name, { route, isKey }]) => `--env ${name}=${route}:${isKey ? 'key' : 'url'}`,
  );
  const host = first && hostOf(first);
  return `${[...names].join(', ')} are not set, because several routes lead to ${host}; choose one, for example with ${example.join(' ')}`;
}

function removeFrom(env: Record<string, string | undefined>, name: string, notes: string[]): void {
  if (env[name])
    notes.push(
      `the command does not get your variable ${name}, because clients that find ${name} would not call the route with the key for the routes`,
    );
  delete env[name];
}

/** Starts no name with a digit, which shells refuse, and none with `SLUICE_`. */
function prefixOf(route: string): string {
  const name = route.toUpperCase().replaceAll('-', '_');
  return /^\d/.test(name) || isOurs(`${name}_`) ? `ROUTE_${name}` : name;
}

function isOurs(name: string): boolean {
  return name.startsWith('SLUICE_');
}
