import type { IncomingMessage, RequestListener } from 'node:http';
import type { Logger } from 'pino';

const host = {
  type: 'string',
  pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$',
  format: 'host',
} as const;

export const hostSettings = {
  CONSOLE_HOST: {
    ...host,
    description: 'Host of the console, with its port unless that is 443. If it is not set, there is no console',
  },
  FIELDS_HOST: {
    ...host,
    description:
      'Host of the hosted fields, with its port unless that is 443. If it is not set, there are no hosted fields',
  },
  ROUTES_HOST: {
    ...host,
    description:
      'Routes are served at `<path_name>.<ROUTES_HOST>`. If ROUTES_HOST is not set, routes are served only at `/routes`. The hosts of routes serve ' +
      'responses of destinations, so CONSOLE_HOST and FIELDS_HOST must not be subdomains of ROUTES_HOST',
  },
} as const;

export interface HostSettings {
  CONSOLE_HOST?: string | undefined;
  FIELDS_HOST?: string | undefined;
  ROUTES_HOST?: string | undefined;
  /** Absent in services without this setting. */
  BASE_URL?: string | undefined;
}

/** `base` is every host except the others. `none` is `ROUTES_HOST` itself and names too deep below it: always 404. */
export type HostKind = 'base' | 'console' | 'fields' | 'routes' | 'none';

export interface Host {
  kind: HostKind;
  /** Of a route: the label before `ROUTES_HOST`. */
  pathName?: string;
}

export type HostOf = (request: Pick<IncomingMessage, 'headers'>) => Host;

const base: Host = { kind: 'base' };
const none: Host = { kind: 'none' };

/**
 * Finds the kind of host by the request's `Host` alone, ignoring `X-Forwarded-Host`. Everything at one host shares an
 * origin, so responses of destinations must never be served at the host of the console or of the fields. Logs which
 * hosts are not set, and which need https. @throws {Error} if two settings name the same host.
 */
export function hostsFrom(settings: HostSettings, log: Pick<Logger, 'info'>): HostOf {
  const named = namesOf(settings);
  refuseShared(named);
  sayUnserved(settings, log);
  sayHttps(settings, log);
  const exact = new Map<string, Host>();
  if (named.CONSOLE_HOST) exact.set(named.CONSOLE_HOST, { kind: 'console' });
  if (named.FIELDS_HOST) exact.set(named.FIELDS_HOST, { kind: 'fields' });
  if (named.ROUTES_HOST) exact.set(named.ROUTES_HOST, none);
  const ofRoutes = named.ROUTES_HOST && `.${named.ROUTES_HOST}`;
  return ({ headers }) => {
    if (exact.size === 0) return base;
    const name = nameOf(headers.host ?? '');
    const found = exact.get(name);
    if (found) return found;
    if (ofRoutes === undefined || !name.endsWith(ofRoutes)) return base;
    const pathName = name.slice(0, -ofRoutes.length);
    return pathName === '' || pathName.includes('.') ? none : { kind: 'routes', pathName };
  };
}

/** `none` also answers at every kind of host without a listener. */
export type ListenersByHost = Partial<Record<HostKind, RequestListener>> & { none: RequestListener };

export function serveByHost(hostOf: HostOf, listeners: ListenersByHost): RequestListener {
  return (request, response) => (listeners[hostOf(request).kind] ?? listeners.none)(request, response);
}

function sayUnserved(settings: HostSettings, log: Pick<Logger, 'info'>): void {
  const unset = (['CONSOLE_HOST', 'FIELDS_HOST', 'ROUTES_HOST'] as const).filter((name) => !settings[name]);
  if (unset.length === 0) return;
  log.info(`${unset.join(', ')} ${unset.length === 1 ? 'is' : 'are'} not set, so nothing is served there`);
}

/**
 * Over http a browser sends no `Sec-Fetch-Site`, so every request of the console is refused, and no other message
 * explains why.
 */
function sayHttps(settings: HostSettings, log: Pick<Logger, 'info'>): void {
  for (const name of ['CONSOLE_HOST', 'FIELDS_HOST'] as const) {
    const { [name]: host } = settings;
    if (!host || isLocalHost(host)) continue;
    log.info(`${name} is outside localhost, so browsers must reach it by https: ${host}`);
  }
}

/** Whether browsers treat a page at this host as secure without https (Secure Contexts, section 3.1). */
export function isLocalHost(host: string): boolean {
  const name = nameOf(host);
  return name === '127.0.0.1' || name === 'localhost' || name.endsWith('.localhost');
}

/** As a browser names it. Outside this machine a host is reached by https, because its pages need a secure context. */
export function originOf(host: string): string {
  return new URL(`${isLocalHost(host) ? 'http' : 'https'}://${host}`).origin;
}

/** In lower case, without the port and one final dot. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.?(?::\d*)?$/, '');
}

function namesOf(settings: HostSettings): Partial<Record<keyof HostSettings, string>> {
  const { BASE_URL: url } = settings;
  const given = { ...settings, BASE_URL: url === undefined ? undefined : new URL(url).host };
  const entries = Object.keys(hostSettings)
    .concat('BASE_URL')
    .map((name) => [name, given[name as keyof HostSettings]]);
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, nameOf(value)]] : [])));
}

function refuseShared(named: Partial<Record<keyof HostSettings, string>>): void {
  const { ROUTES_HOST: routes } = named;
  const takers = new Map<string, string>();
  for (const [setting, name] of Object.entries(named)) {
    const other = takers.get(name);
    if (other !== undefined) throw new Error(`${setting} and ${other} must be different hosts; both are ${name}`);
    takers.set(name, setting);
    if (routes !== undefined && name.endsWith(`.${routes}`)) {
      throw new Error(
        `${setting} must not be a subdomain of ROUTES_HOST, where destinations answer: ${name}, ${routes}`,
      );
    }
  }
}
