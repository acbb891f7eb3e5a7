/** The services behind the ingress. */
export type ServiceName = 'proxy-gateway' | 'token-vault' | 'management-api';

export interface Route {
  /** A whole path, which also stands for all below it: `/proxy` for `/proxy/a`, not for `/proxyfoo`. */
  path: string;
  service: ServiceName;
}

/** First match wins; the last matches everything. */
export const routes: readonly Route[] = [
  { path: '/proxy', service: 'proxy-gateway' },
  { path: '/tokens', service: 'token-vault' },
  { path: '/v2/tokens', service: 'token-vault' },
  { path: '/tokenize', service: 'token-vault' },
  { path: '/detokenize', service: 'token-vault' },
  { path: '', service: 'management-api' },
];

/** The service that answers a request target. Paths are compared as they were sent: nothing is decoded or normalized. */
export function findService(target: string): ServiceName {
  const path = target.split('?', 1)[0] ?? '';
  const route = routes.find((candidate) => path === candidate.path || path.startsWith(`${candidate.path}/`));
  return route?.service ?? 'management-api';
}
