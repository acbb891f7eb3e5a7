import { type Host, type HostSettings, hostsFrom, isLocalHost } from './hosts.ts';

const settings = {
  CONSOLE_HOST: 'Console.localhost:8080',
  FIELDS_HOST: 'fields.localhost:8080',
  ROUTES_HOST: 'routes.localhost:8080',
};
const silent = { info: () => undefined };
const at = (host: string | undefined, given: HostSettings = settings) =>
  hostsFrom(given, silent)({ headers: host === undefined ? {} : { host } });

describe('the host of a request', () => {
  test.each<[string | undefined, Host]>([
    ['console.localhost:8080', { kind: 'console' }],
    ['console.localhost', { kind: 'console' }],
    ['CONSOLE.LOCALHOST:443', { kind: 'console' }],
    ['console.localhost.', { kind: 'console' }],
    ['console.localhost.:8080', { kind: 'console' }],
    ['console.localhost:', { kind: 'console' }],
    ['fields.localhost:8080', { kind: 'fields' }],
    ['shop.routes.localhost:8080', { kind: 'routes', pathName: 'shop' }],
    ['SHOP.Routes.localhost.', { kind: 'routes', pathName: 'shop' }],
    ['routes.localhost:8080', { kind: 'none' }],
    ['routes.localhost.', { kind: 'none' }],
    ['.routes.localhost', { kind: 'none' }],
    ['a.b.routes.localhost', { kind: 'none' }],
    ['..routes.localhost', { kind: 'none' }],
    ['shoproutes.localhost', { kind: 'base' }],
    ['127.0.0.1:8080', { kind: 'base' }],
    ['[::1]:8080', { kind: 'base' }],
    ['[::1]', { kind: 'base' }],
    ['sub.console.localhost', { kind: 'base' }],
    ['console.localhost..', { kind: 'base' }],
    ['console.localhost.example.com', { kind: 'base' }],
    ['', { kind: 'base' }],
    [undefined, { kind: 'base' }],
  ])('%s is %j', (host, expected) => expect(at(host)).toEqual(expected));

  test('what is not set is the base host', () => {
    expect(at('console.localhost', {})).toEqual({ kind: 'base' });
    expect(at('shop.routes.localhost', { CONSOLE_HOST: 'console.localhost' })).toEqual({ kind: 'base' });
  });

  test('an X-Forwarded-Host is not read', () => {
    const headers = { host: '127.0.0.1', 'x-forwarded-host': 'console.localhost' };
    expect(hostsFrom(settings, silent)({ headers })).toEqual({ kind: 'base' });
  });
});

describe('the start is refused', () => {
  test.each<[string, HostSettings, string]>([
    [
      'a console below the routes',
      { CONSOLE_HOST: 'console.example.com:8443', ROUTES_HOST: 'EXAMPLE.com' },
      'CONSOLE_HOST must not be a subdomain of ROUTES_HOST, where destinations answer: console.example.com, example.com',
    ],
    [
      'fields far below the routes',
      { FIELDS_HOST: 'a.b.example.com', ROUTES_HOST: 'example.com' },
      'FIELDS_HOST must not be a subdomain of ROUTES_HOST',
    ],
    [
      'a base host below the routes, because it would be one',
      { BASE_URL: 'https://api.example.com/', ROUTES_HOST: 'example.com' },
      'BASE_URL must not be a subdomain of ROUTES_HOST',
    ],
    [
      'one host for console and fields, whatever the ports',
      { CONSOLE_HOST: 'example.com:1', FIELDS_HOST: 'EXAMPLE.com:2' },
      'FIELDS_HOST and CONSOLE_HOST must be different hosts; both are example.com',
    ],
    [
      'one host for console and routes',
      { CONSOLE_HOST: 'example.com', ROUTES_HOST: 'example.com' },
      'ROUTES_HOST and CONSOLE_HOST must be different hosts',
    ],
    [
      'the console at the base host',
      { CONSOLE_HOST: 'example.com', BASE_URL: 'https://Example.com:8443' },
      'BASE_URL and CONSOLE_HOST must be different hosts',
    ],
  ])('%s', (_, given, message) => expect(() => hostsFrom(given, silent)).toThrow(message));

  test('not for routes below the console, which are hosts of their own', () => {
    expect(at('a.routes.example.com', { CONSOLE_HOST: 'example.com', ROUTES_HOST: 'routes.example.com' })).toEqual({
      kind: 'routes',
      pathName: 'a',
    });
  });
});

test.each<[HostSettings, string[]]>([
  [settings, []],
  [{ ...settings, FIELDS_HOST: undefined }, ['FIELDS_HOST is not set, so nothing is served there']],
  [{}, ['CONSOLE_HOST, FIELDS_HOST, ROUTES_HOST are not set, so nothing is served there']],
])('of %j the start says what is not served', (given, lines) => {
  const said: string[] = [];
  hostsFrom(given, { info: (line: string) => said.push(line) });
  expect(said).toEqual(lines);
});

describe('a host outside localhost', () => {
  const said = (given: HostSettings) => {
    const lines: string[] = [];
    hostsFrom(given, { info: (line: string) => lines.push(line) });
    return lines.filter((line) => line.includes('https'));
  };

  test('needs https for the console and the fields, and the start says so', () => {
    const given = {
      CONSOLE_HOST: 'console.example.com',
      FIELDS_HOST: 'fields.example.com:8443',
      ROUTES_HOST: 'r.example.com',
    };
    expect(said(given)).toEqual([
      'CONSOLE_HOST is outside localhost, so browsers must reach it by https: console.example.com',
      'FIELDS_HOST is outside localhost, so browsers must reach it by https: fields.example.com:8443',
    ]);
    expect(said(settings)).toEqual([]);
  });

  test.each([
    ['localhost', true],
    ['Console.LOCALHOST.:8080', true],
    ['127.0.0.1:8080', true],
    ['console.localhost.example.com', false],
    ['notlocalhost', false],
    ['127.0.0.1.example.com', false],
    ['10.0.0.1', false],
  ])('%s is on this machine: %s', (host, isLocal) => expect(isLocalHost(host)).toBe(isLocal));
});
