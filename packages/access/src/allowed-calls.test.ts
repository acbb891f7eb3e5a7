import { allowsPath, faultInAllowedPath, refusedBy } from './allowed-calls.ts';

type Row = readonly [entry: string, path: string, isAllowed: boolean];

const table: readonly Row[] = [
  // itself and what is below it
  ['/v1/a', '/v1/a', true],
  ['/v1/a', '/v1/a/', true],
  ['/v1/a', '/v1/a/b/c', true],
  ['/v1/a', '/v1/ab', false],
  ['/v1/a', '/v1', false],
  ['/v1/a', '', false],
  ['/v1/a', '/V1/a', false],
  ['/v1/a', '/v1/A', false],
  // only what is below
  ['/v1/a/*', '/v1/a', false],
  ['/v1/a/*', '/v1/a/', false],
  ['/v1/a/*', '/v1/a//', false],
  ['/v1/a/*', '/v1/a/.', false],
  ['/v1/a/*', '/v1/a/;x', false],
  ['/v1/a/*', '/v1/a/b', true],
  ['/v1/a/*', '/v1/a/b/..', false],
  // segments that begin so, and what is below
  ['/v1/a*', '/v1/a', true],
  ['/v1/a*', '/v1/ab', true],
  ['/v1/a*', '/v1/ab/c', true],
  ['/v1/a*', '/v1/b', false],
  ['/v1/a*', '/v1/', false],
  ['/v1/a*', '/v1/a%2F..%2Fb', false],
  ['/v1/a*', '/v1/a/../b', false],
  ['/v1/.well*', '/v1/.well-known', true],
  // everything
  ['/', '', true],
  ['/', '/', true],
  ['/', '/v1/a', true],
  ['/', '/..', false],
  ['/*', '', false],
  ['/*', '/', false],
  ['/*', '/a', true],
  // dot segments
  ['/v1/a', '/v1/a/./b', true],
  ['/v1/a', '/v1/a/b/../c', true],
  ['/v1/a', '/v1/a/..', false],
  ['/v1/a', '/v1/a/../b', false],
  ['/v1/a', '/v1/a/../a/b', false],
  ['/v1/a', '/v1/a/b/../../b', false],
  ['/v1/a', '/v1/./a', false],
  ['/v1/a', '/v1/b/../a', false],
  ['/v1/a', '/v1/a/...', true],
  // encoded
  ['/v1/a', '/v1/a/%2e%2e/b', false],
  ['/v1/a', '/v1/a/%2E%2e/b', false],
  ['/v1/a', '/v1/a/.%2e/b', false],
  ['/v1/a', '/v1/a/%252e%252e/b', false],
  ['/v1/a', '/v1/a/%25%32%65%25%32%65/b', false],
  ['/v1/a', '/v1/a/%2%65%2%65/b', false],
  ['/v1/a', '/v1/a/%%32e%%32e/b', false],
  ['/v1/a', '/v1/a/..%25%32%66b', false],
  ['/v1/a', '/v1/a/..%25%35%63b', false],
  ['/v1/a', '/v1/a/..%25%33%62x/b', false],
  ['/v1/a', '/v1/a/b%25%30%30', false],
  ['/v1/a', '/v1/a/%e0%80%ae%e0%80%ae/b', false],
  ['/v1/a', '/v1/a/%f0%80%80%ae%f0%80%80%ae/b', false],
  ['/v1/a', '/v1/a/%c3%a9%e2%82%ac', true],
  ['/v1/a', '/v1/a/100%25%20', true],
  ['/v1/a', '/v1/a/..%2fb', false],
  ['/v1/a', '/v1/a/..%252fb', false],
  ['/v1/a', '/v1/a/x%2f..%2f..%2fb', false],
  ['/v1/a', '/v1/a/%c0%ae%c0%ae/b', false],
  ['/v1/a', '/v1/a/b%00', false],
  ['/v1/a', '/v1/a/b%2500', false],
  ['/v1/a', '/v1/%61', false],
  ['/v1/a', '/v1/a/%61%20b', true],
  // slashes that are not separators for everybody, as GitLab and npm send them
  ['/projects', '/projects/group%2Fproject/issues', true],
  ['/projects/group%2Fproject', '/projects/group%2Fproject/issues', true],
  ['/projects/group%2Fproject', '/projects/group/project/issues', false],
  ['/projects/group/project', '/projects/group%2Fproject', false],
  ['/@scope%2fname', '/@scope%2fname', true],
  ['/v1/a', '/v1%2Fa', false],
  ['/v1/a', '/v1/a/b%2F%2F/../../c', false],
  // empty segments
  ['/v1/a', '//v1/a', false],
  ['/v1/a', '/v1//a', false],
  ['/v1/a', '/v1/a//b', true],
  ['/v1/a', '/v1/a//../b', false],
  ['/v1/a', '/v1/a/b//../c', true],
  ['/v1/a', '/v1/a/b/%2e/../../c', false],
  // parameters
  ['/v1/a', '/v1/a;x=1', false],
  ['/v1/a', '/v1/a/b;x=1/c', true],
  ['/v1/a', '/v1/a/..;/b', false],
  ['/v1/a', '/v1/a/..;x=1/b', false],
  ['/v1/a', '/v1/a/..%3b/b', false],
  ['/v1/a', '/v1/a/b/;/../../c', false],
  // backslashes
  ['/v1/a', '/v1/a\\b', false],
  ['/v1/a', '/v1/a/b\\c', true],
  ['/v1/a', '/v1/a/..\\b', false],
  ['/v1/a', '/v1/a/x\\..\\..\\b', false],
  ['/v1/a', '/v1/a/..%5cb', false],
  // blanks that some servers drop
  ['/v1/a', '/v1/a/..%20/b', false],
  ['/v1/a', '/v1/a/..%09/b', false],
  // servers that read a part in one way and a part in another
  ['/v1/a', '/v1/a/%2e%2e/b/%252e%252e/a', false],
  ['/v1/a', '/v1/a/../b/..;/a', false],
  ['/v1/a', '/v1/a/%2e%2e/b/..%2Fa', false],
  // expressions are text
  ['/v1/a', '/v1/a/{{ 0b8f5a0e-6f63-4a1f-9d3c-1a2b3c4d5e6f }}', true],
  ['/v1/a', '/v1/a/%7B%7B%200b8f5a0e%20%7D%7D/b', true],
  ['/v1/a', '/v1/{{ 0b8f5a0e }}', false],
];

test.each(table)('where %s is allowed, %j is allowed: %s', (entry, path, isAllowed) => {
  expect(allowsPath([entry], path)).toBe(isAllowed);
});

test('one entry of several is enough', () => {
  expect(['/a', '/b/x', '/c'].map((path) => allowsPath(['/a', '/b/*'], path))).toEqual([true, true, false]);
});

/** Readings of whole paths by servers: each takes all of a path in its own way. */
const servers: Record<string, (path: string) => string> = {
  'as sent, dots resolved': (path) => resolved(path),
  'decoded once': (path) => resolved(decodeURIComponent(path)),
  'decoded twice': (path) => resolved(decodeURIComponent(decodeURIComponent(path))),
  'without parameters': (path) => resolved(path.replace(/;[^/]*/g, '')),
  'decoded, without parameters': (path) => resolved(decodeURIComponent(path).replace(/;[^/]*/g, '')),
  'with backslashes as slashes': (path) => resolved(path.replaceAll('\\', '/')),
  WHATWG: (path) => new URL(path, 'http://a.example').pathname,
};

function resolved(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.' && segment !== '') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

const pieces = [
  'a',
  'b',
  '..',
  '.',
  '',
  '%2e%2e',
  '%252e%252e',
  '..;x',
  ';x',
  'x%2Fy',
  '..%2F..',
  'x\\..\\..',
  '..%3b',
];

test('no server finds a path outside of /v1/a, whatever three segments are appended', () => {
  const left: string[] = [];
  let allowed = 0;
  for (const one of pieces) {
    for (const two of pieces) {
      for (const three of pieces) {
        const path = `/v1/a/${one}/${two}/${three}`;
        if (!allowsPath(['/v1/a'], path)) continue;
        allowed += 1;
        for (const [name, read] of Object.entries(servers)) {
          if (!/^\/v1\/a(\/|$)/.test(read(path))) left.push(`${name}: ${path}`);
        }
      }
    }
  }
  expect(left).toEqual([]);
  expect(allowed).toBeGreaterThan(300);
});

test.each([
  [{}, 'DELETE', '/x', undefined],
  [{ allowedMethods: ['get', 'POST'] }, 'GET', '/x', undefined],
  [{ allowedMethods: ['get', 'POST'] }, 'post', '/x', undefined],
  [{ allowedMethods: ['GET'] }, 'HEAD', '/x', 'allowed_methods'],
  [{ allowedMethods: ['GET'], allowedPaths: ['/a'] }, 'PUT', '/x', 'allowed_methods'],
  [{ allowedMethods: ['GET'], allowedPaths: ['/a'] }, 'GET', '/x', 'allowed_paths'],
  [{ allowedPaths: ['/a'] }, 'GET', '/a', undefined],
] as const)('%j refuses %s %s by %s', (rules, method, path, expected) => {
  expect(refusedBy(rules, { method, path })).toBe(expected);
});

test.each<[string, string | undefined]>([
  ['/', undefined],
  ['/*', undefined],
  ['/v1/a', undefined],
  ['/v1/a/*', undefined],
  ['/v1/a*', undefined],
  ['/@scope%2fname;x', undefined],
  ['', 'must begin with /'],
  ['v1', 'must begin with /'],
  ['/v1?x', 'must be a percent-encoded path without query or backslash'],
  ['/v1#x', 'must be a percent-encoded path without query or backslash'],
  ['/v1 a', 'must be a percent-encoded path without query or backslash'],
  ['/v1\\a', 'must be a percent-encoded path without query or backslash'],
  ['/ü', 'must be a percent-encoded path without query or backslash'],
  ['/v1/*/a', 'may have * only as its last character'],
  ['/**', 'may have * only as its last character'],
  ...['/v1//a', '/v1/', '/v1/..', '/v1/%2e%2e/a', '/./a', '/;x', '/v1//*'].map((entry): [string, string] => [
    entry,
    'must not have an empty segment, a "." segment or a ".." segment',
  ]),
])('the entry %j %s', (entry, fault) => {
  expect(faultInAllowedPath(entry)).toBe(fault);
});
