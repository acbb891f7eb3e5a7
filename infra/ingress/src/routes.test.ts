import type { HostKind } from '@sluice/hosts';
import { findService, routes, type ServiceName, serviceFinder } from './routes.ts';

describe('findService', () => {
  test.each([
    ['/proxy', 'proxy-gateway'],
    ['/proxy/', 'proxy-gateway'],
    ['/proxy/a/b?c=/tokens', 'proxy-gateway'],
    ['/proxy?svc-proxy-key=x', 'proxy-gateway'],
    ['/tokens', 'token-vault'],
    ['/tokens/1', 'token-vault'],
    ['/tokens/search?x', 'token-vault'],
    ['/tokenize', 'token-vault'],
    ['/detokenize?x=1', 'token-vault'],
    ['/proxyfoo', 'management-api'],
    ['/proxies', 'management-api'],
    ['/PROXY', 'management-api'],
    ['//proxy', 'management-api'],
    ['/%70roxy', 'management-api'],
    ['/tokensx', 'management-api'],
    ['/tenants/self', 'management-api'],
    ['/.well-known/sluice-ledger-key/0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11', 'management-api'],
    ['/logs/export?start=1', 'management-api'],
    ['/?/proxy', 'management-api'],
    ['/', 'management-api'],
    ['*', 'management-api'],
    ['', 'management-api'],
    ['http://elsewhere/proxy', 'management-api'],
    ['/routes/shop/a', 'proxy-gateway'],
    ['/routesx', 'management-api'],
  ])('at the base host %s is answered by %s', (target, service) => {
    expect(findService('base', target)).toBe(service);
  });

  test.each<[HostKind, string, ServiceName]>([
    ['console', '/', 'management-api'],
    ['console', '/proxy', 'management-api'],
    ['console', '/routes/shop', 'management-api'],
    ['console', '/tokens', 'management-api'],
    ['console', '/api/tokens', 'token-vault'],
    ['console', '/api/tokens/search', 'token-vault'],
    ['console', '/api/tokensx', 'management-api'],
    ['console', '/api/applications', 'management-api'],
    ['fields', '/elements/field?application=1', 'token-vault'],
    ['fields', '/sessions', 'management-api'],
    ['fields', '/tokens/1', 'token-vault'],
    ['fields', '/tokenize', 'token-vault'],
    ['fields', '/detokenize', 'management-api'],
    ['fields', '/proxy', 'management-api'],
    ['routes', '/', 'proxy-gateway'],
    ['routes', '/tokens', 'proxy-gateway'],
    ['routes', '/proxy', 'proxy-gateway'],
    ['routes', '', 'proxy-gateway'],
    ['none', '/proxy', 'management-api'],
    ['none', '/tokens', 'management-api'],
  ])('at the host %s %s is answered by %s', (host, target, service) => {
    expect(findService(host, target)).toBe(service);
  });

  test('destinations answer at no host of pages, and pages are served at no host of destinations', () => {
    const hosts = (wanted: ServiceName) => routes.filter(({ service }) => service === wanted).map(({ host }) => host);
    expect(new Set(hosts('proxy-gateway'))).toEqual(new Set(['base', 'routes']));
    expect(hosts('management-api')).not.toContain('routes');
  });
});

test('a segment * stands for any one', () => {
  const find = serviceFinder([
    { host: 'base', path: '/reactors/*/react', service: 'proxy-gateway' },
    { host: 'base', path: '', service: 'management-api' },
  ]);
  const services = [
    '/reactors/1/react',
    '/reactors/1/react/2',
    '/reactors/1',
    '/reactors//react',
    '/reactors/1/2/react',
  ].map((path) => find('base', path));
  expect(services).toEqual(['proxy-gateway', 'proxy-gateway', 'management-api', 'management-api', 'management-api']);
});
