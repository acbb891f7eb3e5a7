import { eventuallyEqual, serveHttp, useStack } from '@sluice/testing';
import { openConsole, signIn } from './open-console.ts';

/** Another page that the person has open, of a sibling host on the same site. */
const world = useStack(async (closing) => {
  const platform = await openConsole();
  const caught: string[] = [];
  const attacker = await serveHttp(closing, ({ url = '' }, response) => {
    if (url.startsWith('/caught')) caught.push(url);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<!doctype html><title>x</title><link rel="icon" href="data:,"><script>
      new Image().src = '/caught?script';
    </script>`);
  });
  return { ...platform, attacker, caught };
});

/** What a page can learn and do at the console's host with the person's cookie. */
const attempts = async (target: string) => {
  const write = { method: 'POST', body: '{"name":"A","type":"private","permissions":["token:read"]}' };
  const json = { 'Content-Type': 'application/json', 'SVC-CONSOLE': '1' };
  const calls: [string, RequestInit][] = [
    ['/api/me', { credentials: 'include' }],
    ['/api/me', { credentials: 'include', mode: 'no-cors' }],
    ['/api/applications', { credentials: 'include' }],
    ['/api/applications', { ...write, credentials: 'include', headers: json }],
    ['/api/applications', { ...write, credentials: 'include', mode: 'no-cors' }],
    ['/', { credentials: 'include' }],
  ];
  const told = await Promise.allSettled(
    calls.map(async ([path, init]) => {
      const answer = await fetch(target + path, init);
      return `${answer.type} ${answer.status}`;
    }),
  );
  const include = (tag: 'script' | 'img' | 'iframe', path: string) =>
    new Promise<string>((resolve) => {
      const element = Object.assign(document.createElement(tag), { src: target + path });
      element.addEventListener('load', () => {
        const inner = element instanceof HTMLIFrameElement ? element.contentDocument : undefined;
        resolve(inner === null || inner?.body?.childElementCount === 0 ? 'nothing' : 'loaded');
      });
      element.addEventListener('error', () => resolve('nothing'));
      document.body.append(element);
    });
  const included = [await include('script', '/api/me'), await include('img', '/api/me'), await include('iframe', '/')];
  return {
    read: told.map((each) => (each.status === 'fulfilled' ? each.value : 'refused')),
    included,
    cookie: document.cookie,
  };
};

const nothing = {
  read: Array.from({ length: 6 }, () => 'refused'),
  included: ['nothing', 'nothing', 'nothing'],
  cookie: '',
};

/** The same by a page of the console. */
const own = async () => {
  const write = { method: 'POST', body: '{"name":"A","type":"private","permissions":["token:read"]}' };
  const json = { 'Content-Type': 'application/json' };
  const answers = [
    await fetch('/api/me'),
    await fetch('/api/applications', { ...write, headers: { ...json, 'SVC-CONSOLE': '1' } }),
    await fetch('/api/applications', { ...write, headers: json }),
  ];
  return { statuses: answers.map(({ status }) => status), cookie: document.cookie };
};

test('a page of a sibling host neither reads nor writes with the cookie of the console; the console itself does', async () => {
  await using opened = await signIn(world.current);
  const { page, seen } = opened;
  const { attacker, consoleUrl, sluice, caught } = world.current;
  const before = (await sluice.applications.list().page()).pagination.total_items;
  const sibling = attacker.replace('127.0.0.1', 'shop.localhost');
  const other = await page.context().newPage();
  await other.goto(`${sibling}/page`);
  await eventuallyEqual(() => caught, ['/caught?script']); // its scripts do run
  expect(await other.evaluate(attempts, consoleUrl)).toEqual(nothing);
  expect((await sluice.applications.list().page()).pagination.total_items).toBe(before);
  expect(await page.evaluate(own)).toEqual({ statuses: [200, 201, 403], cookie: '' });
  await other.close();
  // These attempts are what the browser writes down.
  seen.errors.length = 0;
  seen.violations.length = 0;
  seen.requests.length = 0;
});
