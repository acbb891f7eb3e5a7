import { errorCodes } from '@sluice/problems';
import { call, useStack } from '@sluice/testing';
import { rawRequest, statusOf } from '../testing/raw-request.ts';
import { shareTestManagement, startTestManagement } from '../testing/test-management.ts';
import { readDocumentation } from './documentation.ts';

const api = useStack(() => shareTestManagement());
const get = (path: string) => call(api.current.url, 'GET', path);

/** fetch would add cache headers and normalize the path. */
const raw = (path: string, headers = '') =>
  rawRequest(api.current.url, `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}\r\n`);

const files = [
  ['/', 'text/html', 'no-cache'],
  ['/openapi.json', 'application/json', 'public, max-age=300'],
  ['/docs', 'text/html', 'no-cache'],
  ['/docs/', 'text/html', 'no-cache'],
  ['/docs/errors', 'text/html', 'no-cache'],
  ['/docs/reference.css', 'text/css', 'no-cache'],
  ['/docs/icon.svg', 'image/svg+xml', 'no-cache'],
] as const;

test.each(files)('%s needs no key, and may be kept', async (path, type, cacheControl) => {
  const { status, headers, body } = await get(path);
  expect(status).toBe(200);
  expect(headers.get('content-type')?.split(';')[0]).toBe(type);
  expect(headers.get('cache-control')).toBe(cacheControl);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('svc-trace-id')).not.toBeNull();
  expect(body.length ?? Object.keys(body).length).toBeGreaterThan(0);
});

test.each(files)('%s has an ETag, and 304 for who has it', async (path) => {
  const etag = (await get(path)).headers.get('etag') ?? '';
  const known = await raw(path, `If-None-Match: ${etag}\r\n`);
  expect({ status: statusOf(known), body: known.split('\r\n\r\n')[1] }).toEqual({ status: 304, body: '' });
  expect(statusOf(await raw(path, 'If-None-Match: "another"\r\n'))).toBe(200);
});

test.each(files)('%s answers HEAD, and 405 to all else', async (path) => {
  const head = await call(api.current.url, 'HEAD', path);
  expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await call(api.current.url, method, path);
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' });
  }
});

test.each(['/docs/package.json', '/docs/../openapi.json', '/docs/%2e%2e/openapi.json', '/docsx', '/openapi.json/'])(
  'there is nothing else: %s',
  async (path) => expect(statusOf(await raw(path))).toBe(404),
);

test('the list of errors has an anchor for each code, and each problem links to its own', async () => {
  const { body } = await get('/docs/errors');
  const anchors = Array.from(body.matchAll(/<section [^>]*id="([^"]+)"/g), ([, id]: string[]) => id);
  expect(anchors).toEqual(Object.keys(errorCodes));
  expect((await get('/none')).headers.get('link')).toBe('</docs/errors#not_found>; rel="help"');
  expect((await get('/applications')).headers.get('link')).toBe('</docs/errors#unauthenticated>; rel="help"');
});

test('the base URL leads to the API reference', async () => {
  expect((await get('/')).body).toContain('href="/docs"');
});

test('the document has every operation, tokens and the invocation too', async () => {
  const { openapi, paths } = (await get('/openapi.json')).body;
  expect(openapi).toMatch(/^3\.1/);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/applications', '/proxies/{id}', '/tokens', '/proxy/{path}']),
  );
});

test.each(['/', '/docs', '/docs/', '/docs/errors'])('%s runs no script, and asks for nothing', async (path) => {
  const { headers, body } = await get(path);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/script-src|connect-src|unsafe|https?:|\*/);
  expect(body).not.toMatch(/<(script|style|form|input|textarea|select|button|iframe|object|embed|base)\b/i);
  expect(body).not.toMatch(/<[^>]*\s(on\w+|style)=/i);
  expect(body).not.toMatch(/<(link|img|a)\b[^>]*(href|src)="(?![/#])/i);
});

test('at the host of the console the pages lead back to it, its theme is the chosen one, and the reference has a search', async () => {
  const { base, console } = readDocumentation('SVC');
  const textOf = (files: typeof base, path: string) => String(files.find((file) => file.path === path)?.body);
  const added = /<(script|link)\b[^>]*"\/(theme\.js|docs\/search\.js|docs\/console\.css)".*\n|<a class="back".*\n/g;
  const countAt = (files: typeof base, path: string) => textOf(files, path).match(added)?.length ?? 0;
  expect(['/docs', '/docs/', '/docs/errors'].map((path) => countAt(console, path))).toEqual([4, 4, 3]);
  for (const path of ['/docs', '/docs/', '/docs/errors']) {
    expect(textOf(console, path).replaceAll(added, '')).toBe(textOf(base, path));
  }
  const policies = console.map(({ headers }) => headers?.['Content-Security-Policy']).filter(Boolean);
  expect(policies.length).toBe(3);
  for (const policy of policies) {
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("trusted-types 'none'");
    expect(policy).not.toMatch(/connect-src|unsafe|https?:|\*/);
  }
  expect(base.map(({ path }) => path)).not.toContain('/docs/search.js');
  for (const path of ['/docs', '/docs/errors']) expect(textOf(base, path)).not.toContain('<script');
});

test('the page has every operation of the document, and each of its links leads somewhere', async () => {
  const { paths } = (await get('/openapi.json')).body;
  const { body } = await get('/docs');
  const ids = new Set(Array.from(body.matchAll(/ id="([^"]+)"/g), ([, id]: string[]) => id));
  const links = Array.from(body.matchAll(/ href="#([^"]+)"/g), ([, id]: string[]) => id);
  expect(links.filter((id) => !ids.has(id))).toEqual([]);
  const text = body.replaceAll('<wbr>', '');
  for (const path of Object.keys(paths)) {
    for (const method of Object.keys(paths[path])) {
      const route = `<b class="method ${method}">${method.toUpperCase()}</b> <code>${path}</code>`;
      expect({ method, path, shown: text.includes(route) }).toEqual({ method, path, shown: true });
    }
  }
});

describe('with another header prefix', () => {
  const acme = useStack((stack) => startTestManagement(stack, { HEADER_PREFIX: 'ACME' }));

  test('the document and the page have the names that the service reads', async () => {
    const { body } = await call(acme.current.url, 'GET', '/openapi.json');
    expect(body.components.securitySchemes.ApiKey.name).toBe('ACME-API-KEY');
    expect(JSON.stringify(body)).toContain('acme-proxy-key');
    expect(JSON.stringify(body)).not.toMatch(/\bsvc\b/i);
    expect((await call(acme.current.url, 'GET', '/docs')).body).not.toMatch(/\bsvc\b/i);
  });
});

test.each(['/docs', '/docs/errors'])(
  'no two elements of %s have the same id, so that each link leads to one place',
  async (path) => {
    const response = await fetch(`${api.current.url}${path}`);
    const ids = [...(await response.text()).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  },
);
