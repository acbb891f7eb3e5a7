import { eventually, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice, stack } = platform;
  const code = 'module.exports = async () => ({ raw: {} })';
  const application = await sluice.applications.create({
    name: 'Shop',
    type: 'private',
    permissions: ['token:create'],
  });
  const proxy = await sluice.proxies.create({ name: 'Payments', destination_url: 'https://payments.example' });
  const reactor = await sluice.reactors.create({ name: 'Check', code });
  const formula = await sluice.reactorFormulas.create({ name: 'Score', code, type: 'private' });
  const token = await clientOf(stack.baseUrl, application.key).sluice.tokens.create({ type: 'token', data: 'a' });
  const rows = () => sluice.logs.list({ token_id: token.id, size: 1 }).page();
  await eventually('the log is written', async () => (await rows()).data.length === 1);
  const [row] = (await rows()).data;
  if (!row) throw new Error('The log has no row of the token');
  const { id: at, created_at } = row;
  const addresses: Record<string, string> = {
    '/': '/',
    '/applications': '/applications',
    '/applications/new': '/applications/new',
    '/applications/$id': `/applications/${application.id}`,
    '/audit': '/audit',
    '/audit/$id': `/audit/${at}?entity_id=${token.id}&at=${created_at}`,
    '/audit/checkpoint': '/audit/checkpoint',
    '/invocations': '/invocations',
    '/invocations/$traceId': '/invocations/no-longer-kept',
    '/proxies': '/proxies',
    '/proxies/new': '/proxies/new',
    '/proxies/$id': `/proxies/${proxy.id}`,
    '/proxies/$id/request': `/proxies/${proxy.id}/request`,
    '/proxies/$id/response': `/proxies/${proxy.id}/response`,
    '/proxies/$id/versions': `/proxies/${proxy.id}/versions`,
    '/reactors': '/reactors',
    '/reactors/new': '/reactors/new',
    '/reactors/$id': `/reactors/${reactor.id}`,
    '/reactors/formulas': '/reactors/formulas',
    '/reactors/formulas/new': '/reactors/formulas/new',
    '/reactors/formulas/$id': `/reactors/formulas/${formula.id}`,
    '/settings': '/settings',
    '/settings/people': '/settings/people',
    '/settings/sign-ins': '/settings/sign-ins',
    '/settings/vault': '/settings/vault',
    '/tokens': '/tokens',
    '/tokens/$id': `/tokens/${token.id}`,
  };
  return { ...platform, addresses, tenant: (await sluice.tenant.get()).name };
});

/** Playwright runs it in the page, where the router of the library makes itself known. */
const routesOfPage = () => {
  const { __TSR_ROUTER__: router } = globalThis as unknown as { __TSR_ROUTER__: { routesByPath: object } };
  return Object.keys(router.routesByPath);
};

const keptByPage = async () => ({
  local: { ...localStorage },
  session: Object.keys(sessionStorage),
  databases: await indexedDB.databases(),
  caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
});

test('every page has a title of its own, which ends with the Tenant, and nothing but two choices stays in the browser', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { addresses, tenant, consoleUrl } = world.current;
  expect(Object.keys(addresses).sort()).toEqual((await page.evaluate(routesOfPage)).sort());
  await page.getByRole('button', { name: /account/ }).click();
  await page.getByRole('radio', { name: 'UTC' }).check({ force: true });
  await page.getByRole('radio', { name: 'Light' }).check({ force: true });
  const titles = new Map<string, string>();
  for (const [route, address] of Object.entries(addresses)) {
    await page.goto(`${consoleUrl}${address}`);
    await page.locator('h1').waitFor(); // under a dialog it has no role
    await eventually(`${route} has a title`, async () => (await page.title()).endsWith(` · ${tenant}`));
    await eventually(`${route} is loaded`, async () => (await page.getByLabel('Loading').count()) === 0);
    titles.set(await page.title(), route);
  }
  expect([...titles.values()].sort()).toEqual(Object.keys(addresses).sort());
  expect([...titles.keys()]).toEqual(
    expect.arrayContaining([
      `Overview · ${tenant}`,
      `Shop · ${tenant}`,
      `Request transform · Payments · ${tenant}`,
      `People · Settings · ${tenant}`,
      `New Reactor · ${tenant}`,
    ]),
  );
  expect(await page.evaluate(keptByPage)).toEqual({
    local: { theme: 'light', zone: 'utc' },
    session: [expect.stringMatching(/^tsr-scroll-restoration/)], // how far each page was scrolled
    databases: [],
    caches: [],
    workers: 0,
  });
});
