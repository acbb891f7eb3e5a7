/** The services behind the ingress. */
export type ServiceName = 'proxy-gateway' | 'token-vault' | 'management-api';

export interface Route {
  /** A path, which includes all paths below it: `/proxy` matches `/proxy/a`, but not `/proxyfoo`. */
  path: string;
  service: ServiceName;
}

/** The first match wins. The last route matches everything. */
export const routes: readonly Route[] = [
  { path: '/proxy', service: 'proxy-gateway' },
  { path: '/tokens', service: 'token-vault' },
  { path: '/v2/tokens', service: 'token-vault' },
  { path: '/tokenize', service: 'token-vault' },
  { path: '/detokenize', service: 'token-vault' },
  { path: '', service: 'management-api' },
];

/** The service for a request target. Paths are compared as sent, without decoding or normalizing. */
export function findService(target: string): ServiceName {
  const path = target.split('?', 1)[0] ?? '';
  const route = routes.find((candidate) => path === candidate.path || path.startsWith(`${candidate.path}/`));
  return route?.service ?? 'management-api';
}
