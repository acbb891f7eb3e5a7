import { eventually, useStack } from '@sluice/testing';
import { openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from '../platform.ts';
import { openShopPage, serveShop, typeCard } from './shop-page.ts';

const cardNumber = '5555555555554444';

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const vault = `http://fields.localhost:${new URL(platform.stack.baseUrl).port}`;
  const url = (await serveShop(closing, `${vault}/elements/0.1.0/elements.js`)).replace('127.0.0.1', 'shop.localhost');
  const page = await platform.createApplication({
    type: 'public',
    permissions: ['token:create', 'token:update'],
    allowed_origins: [url],
  });
  const server = await platform.createApplication({
    permissions: ['token:create'],
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read', 'token:update'] }],
  });
  const { openPage } = await openBrowser();

  const authorize = async (nonce: string, token: string) => {
    const conditions = [{ attribute: 'id', operator: 'equals', value: token }];
    const rule = { priority: 1, conditions, transform: 'reveal', permissions: ['token:read', 'token:update'] };
    const body = { nonce, fields: true, address: '127.0.0.1', rules: [rule] };
    const { status } = await platform.call('POST', '/sessions/authorize', { key: server.key, body });
    if (status !== 200) throw new Error(`authorize answered ${status}`);
  };
  return { vault, openPage, settings: { url, vault, key: page.key, application: page.id }, authorize };
});

/** All that the page's side learns: what it hears, holds, keeps, says and asks for. */
async function openWatched(closing: AsyncDisposableStack) {
  const { openPage, settings, authorize } = world.current;
  const opened = await openPage(closing, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, seen } = opened;
  const said: string[] = [];
  const asked: string[] = [];
  /** With what frames tell of where they are. */
  const addresses: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('request', (request) => {
    const isOfPage = request.frame() === page.mainFrame();
    addresses.push(`${request.url()} ${isOfPage ? '' : (request.headers().referer ?? '')}`);
    if (isOfPage) asked.push(`${request.url()} ${request.postData() ?? ''}`);
  });
  await page.exposeFunction('authorize', authorize);
  await openShopPage(opened, settings);
  await typeCard(opened, cardNumber);

  const learned = async () => {
    const inPage = await page.evaluate(async () => [
      document.documentElement.outerHTML,
      JSON.stringify(window.heard),
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name]),
      JSON.stringify((await indexedDB.databases()).concat((await caches.keys().then(String)) as never)),
      JSON.stringify(Object.values(window.mounted).map((field) => ({ ...field }))),
    ]);
    return [...inPage, ...said, ...asked, ...seen.errors].join('\n');
  };
  return { ...opened, learned, addresses };
}

const reveal = async ({ page }: Awaited<ReturnType<typeof openWatched>>, token: string) => {
  await page.evaluate(async (id) => {
    const authorize = (window as unknown as { authorize: (nonce: string, token: string) => Promise<void> }).authorize;
    const options = { title: 'Your card', token: id, authorize: (nonce: string) => authorize(nonce, id) };
    const field = window.shop.field('reveal', '#reveal', options);
    window.mounted.reveal = field;
    await field.ready;
  }, token);
  const frame = page.locator('#reveal iframe').contentFrame();
  await frame.getByRole('button', { name: 'Show' }).click();
  await frame.getByText('5555 5555 5555 4444').waitFor();
  return frame;
};

test('the page learns neither number nor code nor a session’s key, by typing, making, changing and showing a token', async () => {
  await using closing = new AsyncDisposableStack();
  const watched = await openWatched(closing);
  const { page, learned, addresses, seen } = watched;
  const token = await page.evaluate(() => window.shop.tokenize({ metadata: { order: 'canary-1042' } }));
  await reveal(watched, token.id);
  await page.evaluate(async (id) => {
    const authorize = (window as unknown as { authorize: (nonce: string, token: string) => Promise<void> }).authorize;
    await window.shop.update(id, (nonce) => authorize(nonce, id));
  }, token.id);
  const all = await learned();
  // The search finds what is there.
  expect(all).toContain('canary-1042');
  expect(all).toContain(token.id);
  expect(all).toContain('"last4":"4444"');
  const digits = all.replaceAll(/[\s-]/g, '');
  for (const secret of [cardNumber, cardNumber.slice(0, 12), '"987"', '_ses_', '"cvc":']) {
    expect(digits).not.toContain(secret);
  }
  expect(JSON.stringify(token)).not.toContain('"data"');
  const { key } = world.current.settings;
  const secrets = [key, '_ses_', cardNumber];
  expect(addresses.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
  expect(addresses.filter((text) => / http/.test(text))).toEqual([]);
  expect(seen.errors).toEqual([]);
});

test('a value is copied by whoever sees it, and not by a click that something in the page lies over', async () => {
  await using closing = new AsyncDisposableStack();
  const watched = await openWatched(closing);
  const { page } = watched;
  const { id } = await page.evaluate(() => window.shop.tokenize());
  const frame = await reveal(watched, id);
  const copy = frame.getByRole('button', { name: 'Copy' }).first();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  await page.evaluate(() => {
    const lure = Object.assign(document.createElement('div'), { id: 'lure', textContent: 'Win a car' });
    lure.style.cssText = 'position: fixed; inset: 0; background: white; pointer-events: none; z-index: 9';
    document.body.append(lure);
  });
  const copies = async () => {
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await copy.click({ force: true });
    return (await clipboard()) === cardNumber;
  };
  await eventually('the frame knows that it is covered', async () => !(await copies()) && !(await copies()));

  await page.evaluate(() => document.getElementById('lure')?.remove());
  await eventually('the frame knows that it is seen', copies);
});
