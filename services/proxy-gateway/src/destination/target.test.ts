import { addressOf, checkTarget, parseDestination } from './target.ts';

function parsed(url: string) {
  const destination = parseDestination(url);
  if (!destination) throw new Error(`${url} is no URL`);
  return destination;
}

test('what is no URL is no destination', () => {
  expect(parseDestination('//x')).toBeUndefined();
});

/** As an invocation does it: what was sent is checked first. */
function addressed(destination: string, path: string, query: string) {
  checkTarget({ path, query });
  return addressOf(parsed(destination), { path, query });
}

describe('the address of a call', () => {
  test.each([
    ['https://x.test', '', '', 'https://x.test', '/'],
    ['https://x.test/a/', '', '', 'https://x.test', '/a/'],
    ['https://x.test:8443/a', '/b', '', 'https://x.test:8443', '/a/b'],
    ['https://x.test:443/a/', '/b', '', 'https://x.test', '/a/b'],
    ['https://x.test/', '/', '', 'https://x.test', '/'],
    ['https://x.test/a', '/', '', 'https://x.test', '/a/'],
    ['https://x.test/a?k=1', '', '', 'https://x.test', '/a?k=1'],
    ['https://x.test/a?k=1', '', '?q=2', 'https://x.test', '/a?k=1&q=2'],
    ['https://x.test/a?k=1', '/b', '?q=2&q=3', 'https://x.test', '/a/b?k=1&q=2&q=3'],
    ['https://x.test/a?', '/b', '?', 'https://x.test', '/a/b'],
    ['https://x.test', '', '?q=2', 'https://x.test', '/?q=2'],
    ['https://[::1]:1/a', '/b', '', 'https://[::1]:1', '/a/b'],
  ])('%s and %j and %j', (destination, suffix, query, origin, path) => {
    expect(addressed(destination, suffix, query)).toEqual({ origin, path });
  });

  test('suffix and query are kept byte for byte', () => {
    const suffix = '//a//b/.well-known/x;v=1/%7e%41/...|{}^`"<>\'/a..b/..c/\u00e9';
    const query = '?q=\'%27"<>{}|&u=http://y//z?&&=\u00e9';
    expect(addressed('https://x.test/base', suffix, query).path).toBe(`/base${suffix}${query}`);
  });

  test.each([
    '/..',
    '/../x',
    '/a/../../x',
    '/a/..',
    '/%2e%2e/x',
    '/%2E%2e',
    '/.%2e/x',
    '/%2e./x',
    '/..%2fx',
    '/..%2Fx',
    '/a%2f../x',
    '/%2e%2e%2fx',
    '/..\\x',
    '\\..\\x',
    '/a\\..',
    '/..%5cx',
    '/..;/x',
    '/..;v=1/x',
    '/%2e%2e;/x',
    '/a/%2e%2e%5c%2e%2e',
    'x',
    '@evil.test/',
    '.evil.test/',
    ':1/',
    '/a#b',
    '/a b',
    '/a\r\nX: y',
    '/a\u0000',
    '/\u0100',
  ])('refuses the suffix %j', (suffix) => {
    expect(() => addressed('https://x.test/base', suffix, '')).toThrow(
      expect.objectContaining({ code: 'bad_request' }),
    );
  });

  test.each(['?a b', '?a#b', '?a\r\nX: y', '?\u0100'])('refuses the query %j', (query) => {
    expect(() => addressed('https://x.test/base', '', query)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });
});
