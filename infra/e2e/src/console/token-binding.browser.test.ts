import { eventually, startDestination, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { choose, openConsole, signIn } from './open-console.ts';

const number = '4242424242424242';
const until = '2036-01-02T03:04:05.678Z';

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const { sluice } = platform;
  const destination = await startDestination(closing);
  const proxy = await sluice.proxies.create({ name: 'Payments', destination_url: destination.url });
  const permissions = ['token:create', 'token:use', 'token:read'] as const;
  const shop = await sluice.applications.create({ name: 'Shop', type: 'private', permissions: [...permissions] });
  const { sluice: client } = clientOf(platform.stack.baseUrl, shop.key);
  const create = (use?: object) => client.tokens.create({ type: 'card', data: { number }, ...(use && { use }) });
  const charge = (method: string, { id }: { id: string }) =>
    client.proxy(proxy.key).send('/', {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ card: `{{ ${id} }}` }),
    });
  return { ...platform, proxy, shop, create, charge };
});

test('a person binds a token, sees faults at their fields, and can only make it narrower', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { create, charge, proxy } = world.current;
  const token = await create();
  await charge('POST', token);
  await opened.goto(`/tokens/${token.id}`, 'Token');
  await page.getByText('No restrictions. Every Proxy and Reactor').waitFor();
  await opened.look('token-unbound');
  const bound = page.getByRole('region', { name: 'Bound to' });
  const dialog = page.getByRole('dialog', { name: 'Bind this token' });
  await page.getByRole('button', { name: 'Bind this token' }).click();
  expect(await dialog.getByRole('button', { name: 'Bind' }).isDisabled()).toBe(true);
  await opened.look('token-bind');
  await dialog.getByLabel('Destinations').fill('127.0.0.1\nhttps://api.example.com');
  await dialog.getByLabel('Methods').fill('post, PUT');
  await dialog.getByLabel('Places').fill('body, header:X-Card');
  await dialog.getByLabel('Uses').fill('5');
  await dialog.getByLabel('Until').fill('2036-01-02T03:04');
  await dialog.getByLabel('Only certain Proxies').check();
  await choose(dialog.getByRole('combobox', { name: 'Add a Proxy' }), 'Payments');
  opened.expectStatus(400);
  await dialog.getByRole('button', { name: 'Bind' }).click();
  await dialog.getByText('Entry 2 must be a host without a port').first().waitFor();
  await opened.look('token-bind-fault');
  await dialog.getByLabel('Destinations').fill('127.0.0.1\n*.example.com');
  await dialog.getByRole('button', { name: 'Bind' }).click();
  await page.getByText('The token was bound').waitFor();
  await dialog.waitFor({ state: 'detached' });
  await bound.getByText('0 of 5').waitFor();
  for (const text of ['127.0.0.1', 'example.com', 'POST', 'PUT', 'the body', 'x-card', 'Payments']) {
    await bound.getByText(text, { exact: true }).waitFor();
  }

  await page.getByRole('button', { name: 'Bind this token' }).click();
  await dialog.getByLabel('Uses').fill('6');
  opened.expectStatus(403);
  await dialog.getByRole('button', { name: 'Bind' }).click();
  await dialog
    .getByText(
      'This change would allow more use of the token than now. Only the key of a private Application can make such a change, and only if a rule of the Application reveals the token.',
      { exact: true },
    )
    .waitFor();
  await opened.look('token-bind-refused');
  await dialog.getByLabel('Uses').fill('1');
  await dialog.getByRole('button', { name: 'Bind' }).click();
  await bound.getByText('0 of 1').waitFor();
  await charge('POST', token);
  await expect(charge('POST', token)).rejects.toMatchObject({ status: 403 });
  await page.reload();
  await bound.getByText('none left').waitFor();
  await bound.getByRole('link', { name: 'Payments' }).click();
  await page.getByRole('heading', { name: proxy.name, level: 1 }).waitFor();
});

test('what was refused is said in words, in the log of the token and on the row', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, create, charge, proxy } = world.current;
  const destinations = ['127.0.0.1', '*.payments.example'];
  const token = await create({
    proxies: [proxy.id],
    destinations,
    methods: ['POST'],
    places: ['body'],
    max_uses: 5,
    until,
  });
  await charge('POST', token);
  await charge('POST', token);
  await expect(charge('PUT', token)).rejects.toMatchObject({ status: 403 });
  const seen = async () => (await sluice.logs.list({ token_id: token.id, size: 1 }).page()).pagination.total_items;
  await eventually('the log is written', async () => (await seen()) === 4);
  await opened.goto(`/tokens/${token.id}`, 'Token');
  await page.getByRole('region', { name: 'Bound to' }).getByText('2 of 5').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'Use refused' });
  await row.getByText('use.methods').waitFor();
  expect(await row.textContent()).toContain('Refused by use.methods');
  await opened.look('token-bound');
  await opened.goto(`/audit?token_id=${token.id}`, 'Audit');
  await row.getByRole('link', { name: token.id }).waitFor();
  expect(await row.textContent()).toContain(`Use of ${token.id} refused by use.methods`);
  await row.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'A token was not revealed' }).waitFor();
  await page.getByRole('heading', { name: 'Use refused', exact: true }).waitFor();
  await opened.look('audit-row-refused');
  expect(await page.content()).not.toContain(number);
});

test('a call is explained with the place of the token', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { create, shop } = world.current;
  const token = await create({ places: ['body'] });
  await opened.goto(`/applications/${shop.id}`, 'Shop');
  const explain = page.getByRole('region', { name: 'May this Application make a call?' });
  await choose(explain.getByLabel('Proxy', { exact: true }), 'Payments');
  expect(await explain.getByLabel('Place of the token').isDisabled()).toBe(true);
  await explain.getByLabel('Token in the call').fill(token.id);
  await explain.getByRole('button', { name: 'Explain the call' }).click();
  await explain.getByText('Decided by the permission token:use').waitFor();
  await explain.getByLabel('Place of the token').fill('query');
  await explain.getByRole('button', { name: 'Explain the call' }).click();
  await explain
    .getByText('Decided by the restriction “Places”, which is under “Bound to” on the page of the token')
    .waitFor();
  await opened.look('application-explain-use');
  await page.reload();
  await explain
    .getByText('Decided by the restriction “Places”, which is under “Bound to” on the page of the token')
    .waitFor();
});
