import { findService } from './routes.ts';

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
  ])('%s is answered by %s', (target, service) => {
    expect(findService(target)).toBe(service);
  });
});
