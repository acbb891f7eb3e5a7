import { hostAndPort, ownHostsFrom } from './own-hosts.ts';

test.each([
  ['Sluice.example.com', 'sluice.example.com'],
  ['sluice.example.com.', 'sluice.example.com'],
  ['sluice.example.com:443', 'sluice.example.com'],
  ['sluice.example.com:80', 'sluice.example.com'],
  ['sluice.example.com.:8443', 'sluice.example.com:8443'],
  ['sluice.example.com:', 'sluice.example.com'],
  ['127.0.0.1:8080', '127.0.0.1:8080'],
  ['[::1]:8080', '[::1]:8080'],
  ['[::1]', '[::1]'],
  ['', undefined],
  ['a b', undefined],
  ['a/b', undefined],
  ['user@a', undefined],
  ['a?b', undefined],
  ['a:b', undefined],
  ['a:99999', undefined],
  ['[::1', undefined],
  ['256.256.256.256', undefined],
])('the host %j is %j', (text, expected) => expect(hostAndPort(text)).toBe(expected));

describe('our own hosts', () => {
  const own = ownHostsFrom({
    BASE_URL: 'https://sluice.example.com/',
    CONSOLE_HOST: 'console.localhost:8080',
    FIELDS_HOST: 'fields.example.org',
    ROUTES_HOST: 'routes.example.com:8443',
  });

  test.each([
    ['sluice.example.com', true],
    ['console.localhost:8080', true],
    ['console.localhost:9090', false],
    ['console.localhost', false],
    ['fields.example.org', true],
    ['routes.example.com:8443', true],
    ['shop.routes.example.com:8443', true],
    ['shop.routes.example.com', false],
    ['shoproutes.example.com:8443', false],
    ['example.com', false],
  ])('%s: %s', (host, expected) => expect(own.has(host)).toBe(expected));

  test('the base is known by its origin', () => {
    expect([own.baseOrigin, own.baseHost]).toEqual(['https://sluice.example.com', 'sluice.example.com']);
  });

  test('without settings there are none', () => expect(ownHostsFrom({}).has('localhost')).toBe(false));
});
