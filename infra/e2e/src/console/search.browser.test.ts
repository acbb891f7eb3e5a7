import { useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, type SignedIn, signIn, signInLink } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice, stack } = platform;
  const shop = await sluice.applications.create({
    name: 'Harbour shop',
    type: 'private',
    permissions: ['token:create'],
  });
  const proxy = await sluice.proxies.create({ name: 'Harbour bank', destination_url: 'https://bank.example' });
  const { tokens } = clientOf(stack.baseUrl, shop.key).sluice;
  const token = await tokens.create({ id: 'customer-1042', type: 'token', data: 'a' }, { traceId: 'checkout-77' });
  return { ...platform, shop, proxy, token };
});

const fieldOf = ({ page }: SignedIn) => page.getByRole('combobox', { name: /^Search pages/ });

/** Every search that was sent since, decoded. */
const sentSince = ({ seen }: SignedIn, before: number) =>
  seen.requests.slice(before).map((url) => decodeURIComponent(url));

/** Once the search before it is gone, which ends with the navigation that it led to. */
async function openSearch(opened: SignedIn): Promise<void> {
  await fieldOf(opened).waitFor({ state: 'detached' });
  await opened.page.keyboard.press('Control+k');
}

test('the keyboard alone finds pages, names and ids', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { proxy, token } = world.current;
  await openSearch(opened);
  await page.getByRole('group', { name: 'Pages' }).waitFor();
  await opened.look('search-pages');
  await page.keyboard.type('new app');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New Application', level: 1 }).waitFor();

  await page.getByRole('heading', { name: 'New Application', level: 1 }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('harBOUR');
  await page.getByRole('group', { name: 'Applications' }).getByRole('option', { name: 'Harbour shop' }).waitFor();
  await page.getByRole('group', { name: 'Proxies' }).getByRole('option', { name: 'Harbour bank' }).waitFor();
  await opened.look('search-found');
  await page.keyboard.press('ArrowDown');
  const bank = page.getByRole('option', { name: 'Harbour bank', selected: true });
  expect(await fieldOf(opened).getAttribute('aria-activedescendant')).toBe(await bank.getAttribute('id'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Harbour bank', level: 1 }).waitFor();

  await page.getByRole('button', { name: 'Search' }).click();
  await fieldOf(opened).fill(` ${proxy.id} `);
  await page.keyboard.press('Enter'); // before there is an answer
  await page.waitForURL(`**/proxies/${proxy.id}`);
  await openSearch(opened);
  await fieldOf(opened).fill(token.id);
  await page.getByRole('group', { name: 'Tokens' }).getByRole('option').click();
  await page.waitForURL(`**/tokens/${token.id}`);
  await openSearch(opened);
  await fieldOf(opened).fill('checkout-77');
  await page.getByRole('group', { name: 'Traces' }).getByRole('option').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/audit?trace_id=checkout-77');

  await openSearch(opened);
  await fieldOf(opened).fill('no such thing');
  await page.getByText('Nothing that you may see in this Tenant').waitFor();
  await opened.look('search-nothing');
  await page.keyboard.press('Escape');
  await fieldOf(opened).waitFor({ state: 'detached' });
});

test.each([
  ['a key', () => world.current.shop.key],
  ['a key in a line of a shell', () => `-H "SVC-API-KEY: ${world.current.shop.key}"`],
  ['a part of a key', () => world.current.shop.key.slice(0, -20)],
  ['a link that signs in', () => `${world.current.consoleUrl}/sign-in#${'a'.repeat(43)}`],
  ['a card number', () => '4242 4242 4242 4242'],
])('%s that is pasted is recognized, taken out of the field, and sent nowhere', async (_name, textOf) => {
  await using opened = await signIn(world.current);
  const { page, seen } = opened;
  await openSearch(opened);
  const before = seen.requests.length;
  await fieldOf(opened).fill(textOf());
  await page.getByText(/^This looks like a/).waitFor();
  expect(await fieldOf(opened).inputValue()).toBe('');
  // What is searched afterwards has been sent, so the former would have been, too.
  await fieldOf(opened).fill('harbour');
  await page.getByRole('option', { name: 'Harbour shop' }).waitFor();
  const sent = sentSince(opened, before).filter((url) => url.includes('/api/search'));
  expect(sent).toEqual([`${world.current.consoleUrl}/api/search?q=harbour`]);
});

test('a late answer to an earlier text is never shown', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/api\/search\?q=harbour$/, async (route) => {
    await released;
    const found = { kind: 'application', id: world.current.shop.id, name: 'Harbour shop' };
    await route.fulfill({ json: { data: [found] } }).catch(() => {}); // the page may have cancelled it
  });
  await openSearch(opened);
  const asked = page.waitForRequest(/q=harbour$/);
  await fieldOf(opened).fill('harbour');
  await asked;
  await fieldOf(opened).fill('bank');
  await page.getByRole('option', { name: 'Harbour bank' }).waitFor();
  release();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  expect(await page.getByRole('option', { name: 'Harbour shop' }).count()).toBe(0);
});

test('a search that fails says so', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  opened.expectStatus(500);
  await page.route(/\/api\/search/, (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"title":"It broke","status":500}' }),
  );
  await openSearch(opened);
  await fieldOf(opened).fill('harbour');
  await page.getByRole('alert').getByText('It broke').waitFor();
  expect(await page.getByText('Nothing that you may see').count()).toBe(0);
});

test('only pages that the person may see are found', async () => {
  const { sluice, consoleUrl } = world.current;
  const { key } = await sluice.applications.create({
    name: 'Reader',
    type: 'management',
    permissions: ['application:read'],
  });
  await using opened = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByLabel('Management key').fill(key);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await openSearch(opened);
  const names = await page.getByRole('group', { name: 'Pages' }).getByRole('option').allTextContents();
  expect(names).toEqual(['Overview', 'Tokens', 'Applications', 'Settings › Sign-ins']);
});
