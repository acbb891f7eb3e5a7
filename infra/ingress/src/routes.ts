import type { HostKind } from '@sluice/hosts';

/** The services behind the ingress. */
export type ServiceName = 'proxy-gateway' | 'token-vault' | 'management-api';

export interface Route {
  host: HostKind;
  /**
   * A path, which includes all paths below it: `/proxy` matches `/proxy/a`, but not `/proxyfoo`. A segment `*` stands for
   * any one. The empty path matches everything.
   */
  path: string;
  service: ServiceName;
}

/**
 * Which service gets a request; the first match wins. The service decides what it answers at that host; at the kind `none`
 * it answers 404 to everything.
 */
export const routes: readonly Route[] = [
  { host: 'base', path: '/proxy', service: 'proxy-gateway' },
  { host: 'base', path: '/routes', service: 'proxy-gateway' },
  { host: 'base', path: '/reactors/*/react', service: 'proxy-gateway' },
  { host: 'base', path: '/reactors/*/react-async', service: 'proxy-gateway' },
  { host: 'base', path: '/reactors/*/results/*', service: 'proxy-gateway' },
  { host: 'base', path: '/tokens', service: 'token-vault' },
  { host: 'base', path: '/v2/tokens', service: 'token-vault' },
  { host: 'base', path: '/tokenize', service: 'token-vault' },
  { host: 'base', path: '/detokenize', service: 'token-vault' },
  { host: 'base', path: '', service: 'management-api' },
  { host: 'console', path: '/api/tokens', service: 'token-vault' },
  { host: 'console', path: '', service: 'management-api' },
  { host: 'fields', path: '/elements', service: 'token-vault' },
  { host: 'fields', path: '/tokens', service: 'token-vault' },
  { host: 'fields', path: '/tokenize', service: 'token-vault' },
  { host: 'fields', path: '', service: 'management-api' },
  { host: 'routes', path: '', service: 'proxy-gateway' },
  { host: 'none', path: '', service: 'management-api' },
];

export type FindService = (host: HostKind, target: string) => ServiceName;

export const findService = serviceFinder(routes);

/** The service for a request target. Paths are compared as sent, without decoding or normalizing. */
export function serviceFinder(table: readonly Route[]): FindService {
  const known = table.map(({ path, ...route }) => ({ ...route, segments: path.split('/') }));
  return (host, target) => {
    const given = (target.split('?', 1)[0] ?? '').split('/');
    const matches = (segment: string, at: number) => (segment === '*' ? Boolean(given[at]) : segment === given[at]);
    return known.find((route) => route.host === host && route.segments.every(matches))?.service ?? 'management-api';
  };
}
