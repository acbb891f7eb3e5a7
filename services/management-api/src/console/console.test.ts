import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { slow, useStack } from '@sluice/testing';
import { shareTestConsole } from '../testing/test-console.ts';
import { readConsole } from './console-files.ts';

const api = useStack(() => shareTestConsole());

const asPage = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Site': 'none' } };

function built() {
  const files = readConsole({ headerPrefix: 'SVC' });
  if (!files) throw new Error('The console is not built');
  return files;
}

test.each(['/', '/applications', '/applications/123?page=2', '/tokens/a%2Fb', '/proxy', '/anything/at/all'])(
  '%s opens the console, under a strict policy, and is kept nowhere',
  async (path) => {
    const { status, headers, body } = await api.current.browser().send('GET', path, asPage);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect((headers.get('content-security-policy') ?? '').split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
    expect(body).toContain('<div id="app">');
    expect(body).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)|<style|\son\w+=|\sstyle=|https?:/);
  },
);

test('its files are found by the page, and are kept for good', async () => {
  const { body } = await api.current.browser().send('GET', '/', asPage);
  const paths = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(1);
  for (const path of paths) {
    const { status, headers } = await api.current.browser().send('GET', path);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
});

test.each([
  ['a path of the API that does not exist', '/api/nothing', { headers: { Accept: 'text/html' } }],
  ['a file that does not exist', '/assets/index-0.js', asPage],
  ['a file outside of the folder', '/assets/..%2Findex.html', asPage],
  ['what no page asks for', '/applications', { headers: { Accept: '*/*' } }],
  ['a script', '/applications', { headers: { Accept: 'application/javascript' } }],
])('%s is 404', async (_name, path, options) => {
  const { status, headers } = await api.current.browser().send('GET', path, options);
  expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s opens nothing', async (method) => {
  expect((await api.current.browser().send(method, '/applications', asPage)).status).toBe(404);
});

test('nothing of it is at the base host', async () => {
  const { browser, url } = api.current;
  const { host: Host } = new URL(url);
  const [asset] = built().assets;
  for (const path of ['/anything', '/sign-out', asset?.path ?? '']) {
    const { status } = await browser().send('GET', path, { headers: { ...asPage.headers, Host } });
    expect([path, status]).toEqual([path, 404]);
  }
});

test('the page knows the prefix of the headers, and where clients call the API', () => {
  const page = (baseUrl?: string) => readConsole({ headerPrefix: 'ACME', baseUrl })?.page.body.toString();
  expect(page()).toContain('<html lang="en" data-header-prefix="ACME">');
  expect(page('https://sluice.example.com/')).toContain(
    'data-header-prefix="ACME" data-base-url="https://sluice.example.com">',
  );
});

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
  isEntry?: boolean;
  isDynamicEntry?: boolean;
}

slow('0.6 s')('every screen is below 200 KB, compressed, before the editor, which is loaded apart', () => {
  const manifest: Record<string, Chunk> = JSON.parse(
    readFileSync(new URL('../../dist/console/.vite/manifest.json', import.meta.url), 'utf8'),
  );
  const bodies = new Map(built().assets.map(({ path, body }) => [path, body]));
  const sizeOf = (file: string) => gzipSync(bodies.get(`/${file}`) ?? '', { level: 9 }).length;
  const filesOf = (name: string, seen = new Set<string>()): Set<string> => {
    const { file, css = [], imports = [] } = manifest[name] ?? { file: '' };
    if (seen.has(file)) return seen;
    for (const each of [file, ...css]) seen.add(each);
    for (const each of imports) filesOf(each, seen);
    return seen;
  };
  const named = Object.entries(manifest);
  const [entry = ''] = named.find(([, { isEntry }]) => isEntry) ?? [];
  const parts = named.filter(([, { isDynamicEntry }]) => isDynamicEntry).map(([name]) => name);
  const sizes = parts.map((name) => {
    const files = [...new Set([...filesOf(entry), ...filesOf(name)])];
    const bytes = files.reduce((total, file) => total + sizeOf(file), 0);
    return { name, bytes, hasEditor: files.some((file) => /\/editor-[^/]*\.js$/.test(file)) };
  });
  const screens = sizes.filter(({ hasEditor }) => !hasEditor).toSorted((a, b) => b.bytes - a.bytes);
  process.stdout.write(`${sizes.map(({ name, bytes }) => `${bytes} ${name}`).join('\n')}\n`);
  expect(screens.length).toBeGreaterThan(5);
  expect(sizes.length - screens.length).toBe(2);
  for (const { name, bytes } of screens) expect([name, bytes < 200_000]).toEqual([name, true]);
});
