import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { listen } from '@sluice/service-runtime';
import { useStack } from '@sluice/testing';
import { pino } from 'pino';
import { createHttpServer, expressApi, pageHeaders, type StaticFile } from './index.ts';

const text = Buffer.from('body { color: green } '.repeat(500));
const photo = Buffer.from('not really a picture '.repeat(500));
const short = Buffer.from('{}');

const files: StaticFile[] = [
  { path: '/kept.4f2a.js', type: 'js', body: text, caching: 'immutable' },
  { path: '/fresh', type: 'html', body: text, caching: 'no-store', headers: pageHeaders({ 'style-src': "'self'" }) },
  { path: '/asked.css', type: 'css', body: text, caching: { maxAgeSeconds: 0 } },
  { path: '/minutes.json', type: 'json', body: short, caching: { maxAgeSeconds: 300 } },
  { path: '/photo.png', type: 'png', body: photo, caching: 'immutable' },
  { path: '/a(b)*:c.svg', type: 'svg', body: short, caching: 'immutable' },
];

const port = useStack(async (stack) => {
  const app = expressApi({
    operations: [],
    context: {},
    authenticate: async () => Promise.reject(new Error('no file needs a key')),
    headerPrefix: 'SVC',
    log: pino({ level: 'silent' }),
    staticFiles: files,
  });
  return { number: await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack }) };
});

/** fetch would decompress, normalize the path and add headers. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ port: port.current.number, path, method, headers, agent: false }, resolve).on('error', reject).end();
  const answer = await promise;
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

test.each([
  ['/kept.4f2a.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ['/fresh', 'text/html; charset=utf-8', 'no-store'],
  ['/asked.css', 'text/css; charset=utf-8', 'no-cache'],
  ['/minutes.json', 'application/json; charset=utf-8', 'public, max-age=300'],
  ['/photo.png', 'image/png', 'public, max-age=31536000, immutable'],
  ['/a(b)*:c.svg', 'image/svg+xml', 'public, max-age=31536000, immutable'],
])('%s is sent as it is, with type %s and caching %s', async (path, type, caching) => {
  const { status, headers, body } = await ask(path);
  expect({ status, body }).toEqual({ status: 200, body: files.find((file) => file.path === path)?.body });
  expect(headers).toMatchObject({
    'content-type': type,
    'cache-control': caching,
    'content-length': String(body.length),
    'x-content-type-options': 'nosniff',
  });
});

describe('compression', () => {
  test.each([
    ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
    ['br', '*', brotliDecompressSync],
    ['gzip', 'gzip, br;q=0', gunzipSync],
  ])('is %s for a client that accepts %s', async (coding, accepted, decompress) => {
    for (let time = 0; time < 2; time += 1) {
      const { headers, body } = await ask('/asked.css', { 'accept-encoding': accepted });
      expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
      expect(body.length).toBeLessThan(text.length / 10);
      expect(headers['content-length']).toBe(String(body.length));
      expect(decompress(body)).toEqual(text);
    }
  });

  test.each(['identity', 'zstd', 'br;q=0, gzip;q=0'])('is none for a client that accepts %s', async (accepted) => {
    const { headers, body } = await ask('/asked.css', { 'accept-encoding': accepted });
    expect(body).toEqual(text);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers.vary).toBe('Accept-Encoding');
  });

  test.each(['/photo.png', '/minutes.json'])('is none for what it does not make smaller: %s', async (path) => {
    const { headers } = await ask(path, { 'accept-encoding': 'br' });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('vary');
  });
});

describe('a copy that the client has', () => {
  test.each(['/kept.4f2a.js', '/asked.css', '/minutes.json'])('of %s is confirmed by 304', async (path) => {
    for (const accepted of ['identity', 'br', 'gzip']) {
      const { etag = '' } = (await ask(path, { 'accept-encoding': accepted })).headers;
      const known = await ask(path, { 'accept-encoding': accepted, 'if-none-match': `"other", ${etag}` });
      expect({ status: known.status, body: known.body.length }).toEqual({ status: 304, body: 0 });
      expect(known.headers.etag).toBe(etag);
      const changed = await ask(path, { 'accept-encoding': accepted, 'if-none-match': '"other"' });
      expect(changed.status).toBe(200);
    }
  });

  test('in another coding is the same, but not to the byte', async () => {
    const { etag = '' } = (await ask('/asked.css', { 'accept-encoding': 'br' })).headers;
    expect(etag).toMatch(/^W\//);
    expect((await ask('/asked.css', { 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(304);
    expect((await ask('/photo.png')).headers.etag).toMatch(/^"/);
  });

  test('of a file that no one may keep cannot be named', async () => {
    const { headers } = await ask('/fresh');
    expect(headers).not.toHaveProperty('etag');
    expect((await ask('/fresh', { 'if-none-match': '"any"' })).status).toBe(200);
  });
});

test.each(['br', 'identity'])('HEAD is answered as GET without a body (%s)', async (coding) => {
  const get = await ask('/asked.css', { 'accept-encoding': coding });
  const head = await ask('/asked.css', { 'accept-encoding': coding }, 'HEAD');
  expect({ status: head.status, body: head.body.length }).toEqual({ status: 200, body: 0 });
  for (const name of ['content-length', 'content-encoding', 'etag', 'content-type']) {
    expect(head.headers[name]).toBe(get.headers[name]);
  }
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405', async (method) => {
  const { status, headers } = await ask('/asked.css', {}, method);
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
});

test.each([
  '/asked.css/',
  '/Asked.css',
  '/asked%2ecss',
  '//asked.css',
  '/./asked.css',
  '/x/../asked.css',
  '/..%2fpackage.json',
  '/../package.json',
  '/aXc.svg',
  '/__proto__',
  '/constructor',
])('%s is no file of the list', async (path) => expect((await ask(path)).status).toBe(404));

test('a query does not change which file it is', async () => expect((await ask('/asked.css?v=2')).body).toEqual(text));

test('a page runs no code but what its policy names, and makes none of text', async () => {
  const { headers } = await ask('/fresh');
  expect(String(headers['content-security-policy']).split('; ')).toEqual([
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "style-src 'self'",
  ]);
  expect(headers['referrer-policy']).toBe('no-referrer');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin');
});

test('what is allowed replaces what a page cannot do by itself', () => {
  const { 'Content-Security-Policy': policy } = pageHeaders({ 'frame-ancestors': 'https://shop.example' });
  expect(policy).toContain('frame-ancestors https://shop.example');
  expect(policy).not.toContain("frame-ancestors 'none'");
});
