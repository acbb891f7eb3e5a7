import { text } from 'node:stream/consumers';
import { eventually, eventuallyEqual, serveHttp, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const number = '4242424242424242';

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const { sluice, stack } = platform;
  const destination = await serveHttp(closing, async (request, response) => {
    const { url } = request;
    const answer = url?.includes('echo') ? await text(request) : '{}';
    response.writeHead(url?.includes('fail') ? 500 : 200, { 'content-type': 'application/json' }).end(answer);
  });
  const backend = await sluice.applications.create({
    name: 'Backend of the shop',
    type: 'private',
    rules: [{ priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:create', 'token:use'] }],
  });
  const proxy = await sluice.proxies.create({
    name: 'Payments of a shop with a long name',
    destination_url: destination,
    request_transform: {
      code: "module.exports = async (req) => { console.log('charging', req.args.body.amount); return { body: req.args.body }; };",
    },
  });
  const client = clientOf(stack.baseUrl, backend.key).sluice;
  const token = await client.tokens.create({ type: 'card', data: { number } });
  const charge = (path: string, traceId: string, card: string = token.id) =>
    client.proxy(proxy.key).fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'SVC-TRACE-ID': traceId },
      body: JSON.stringify({ amount: 1, card: `{{ ${card} | json: '$.number' }}` }),
    });
  const reactor = await sluice.reactors.create({
    name: 'Country of a card',
    code: "module.exports = async ({ args }) => { console.log('looking up', args.of); if (args.of === 'nothing') throw new Error(); return { raw: {} }; };",
  });
  const react = (of: string, traceId: string) =>
    client.reactors.react(reactor.id, { args: { of, card: `{{ ${token.id} }}` } }, { traceId });
  return { ...platform, backend, proxy, reactor, token, charge, react };
});

/** What has to be scrolled sideways: the page, or the table in it. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main [role=group]')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, clientWidth, scrollWidth }) => `${tagName} ${scrollWidth} > ${clientWidth}`),
  );
}

test('invocations come live, with what they were and what was refused', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { charge, token } = world.current;
  await opened.goto('/invocations', 'Invocations');
  await page.getByText('Nobody has called a Proxy or a Reactor in the last 15 minutes').waitFor();
  await opened.look('invocations-none');
  await charge('/a', 'first-charge');
  await charge('/fail', 'failed-charge');
  await charge('/a', 'refused-charge', 'no-such-token');
  await eventually('three rows', async () => (await page.getByRole('row').count()) === 4);
  await page.getByRole('cell', { name: 'An expression or a token in the request was wrong' }).waitFor();
  await opened.look('invocations');
  for (const width of [320, 600, 928, 929, 1024, 1200, 1280, 1920]) {
    await page.setViewportSize({ width, height: 860 });
    await eventuallyEqual(async () => [width, await overflowing(page)], [width, []]);
  }
  await page.setViewportSize({ width: 1200, height: 860 });
  for (const name of ['Called', 'Trace id']) await page.getByRole('columnheader', { name }).waitFor();
  await page
    .getByRole('row', { name: /first-charge/ })
    .getByRole('link')
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('charging 1').waitFor();
  await opened.look('invocation');
  expect(await page.content()).not.toContain(number);
  await dialog.getByRole('link', { name: token.id }).click();
  await page.getByRole('heading', { name: 'Token', level: 1 }).waitFor();
});

test('what a response guard found is marked, and shown with its tokens', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, proxy, token, charge } = world.current;
  await sluice.proxies.patch(proxy.id, { response_guard: 'redact' });
  const answer = await charge('/echo', 'guarded-charge');
  expect(await answer.json()).toMatchObject({ card: '[redacted]' });
  await sluice.proxies.patch(proxy.id, { response_guard: null });
  await opened.goto('/invocations?trace_id=guarded-charge', 'Invocations');
  const row = page.getByRole('row', { name: /guarded-charge/ });
  await row.getByText('The response guard found a value').waitFor();
  await opened.look('invocations-guarded');
  await row.getByRole('link').first().click();
  const dialog = page.getByRole('dialog');
  const guard = dialog.locator('section', { has: page.getByRole('heading', { name: 'Response guard' }) });
  const guardText =
    'The response guard found a value in the response. Sluice had put this value into the request. Its token:';
  await guard.getByText(guardText).waitFor();
  await guard.getByRole('link', { name: token.id }).waitFor();
  await opened.look('invocation-guarded');
  expect(await page.content()).not.toContain(number);
  const found = async () => {
    const rows = (await sluice.logs.list({ token_id: token.id, trace_id: 'guarded-charge', size: 10 }).page()).data;
    return rows.filter(({ detail }) => detail?.guard_hits === 1).length;
  };
  await eventuallyEqual(found, 1);
  await opened.goto('/audit?trace_id=guarded-charge', 'Audit');
  const logged = page.getByRole('row').filter({ hasText: 'Value found in response' });
  await logged.getByText('Response guard found a value').waitFor();
  await opened.look('audit-guarded');
  await logged.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Value found in response' }).waitFor();
  await page.getByText('Response guard found a value', { exact: true }).waitFor();
  await opened.look('audit-row-guarded');
});

test('why a destination sent no response is shown', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, backend } = world.current;
  const lost = await sluice.proxies.create({ name: 'Lost', destination_url: 'https://no-such-name.invalid' });
  const { status } = await clientOf(stack.baseUrl, backend.key)
    .sluice.proxy(lost.key)
    .fetch('/', { headers: { 'SVC-TRACE-ID': 'lost-charge' } });
  expect(status).toBe(502);
  await opened.goto('/invocations?trace_id=lost-charge', 'Invocations');
  const row = page.getByRole('row', { name: /lost-charge/ });
  await row.getByText('The name of the destination was not found').waitFor();
  await row.getByRole('link').first().click();
  await page.getByRole('dialog').getByText('The name of the destination was not found').waitFor();
  await opened.look('invocation-lost');
  await sluice.proxies.delete(lost.id);
});

test('filters stand in the address', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { charge, backend } = world.current;
  await charge('/a', 'filtered-charge');
  await opened.goto(`/invocations?application_id=${backend.id}`, 'Invocations');
  await page.getByRole('link', { name: 'filtered-charge' }).click();
  await eventually('one row', async () => (await page.getByRole('row').count()) === 2);
  expect(new URL(page.url()).search).toBe('?trace_id=filtered-charge');
  await page.getByRole('combobox', { name: 'Status' }).fill('404');
  await page.getByRole('option', { name: '404' }).click();
  await page.getByText('No call of the last 15 minutes matches').waitFor();
  expect(new URL(page.url()).search).toBe('?trace_id=filtered-charge&status=%22404%22');
  await page.getByRole('button', { name: 'Clear Status' }).click();
  await page.getByRole('link', { name: 'filtered-charge' }).waitFor();
  opened.expectStatus(400);
  await opened.goto('/invocations?status=many', 'Invocations');
  await page.getByText(/must be a status such as 404/).waitFor();
  await opened.look('invocations-refused');
});

test('a busy stream stays within its bounds, and stands still while it is paused', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { charge } = world.current;
  await opened.goto('/invocations', 'Invocations');
  await page.getByText('Live', { exact: true }).waitFor();
  for (let at = 0; at < 15; at++) await Promise.all(Array.from({ length: 20 }, () => charge('/a', `busy-${at}`)));
  await page.getByText('the newest 200').waitFor();
  await eventually('it has as many rows as it keeps', async () => (await page.getByRole('row').count()) === 201);
  await page.getByRole('button', { name: 'Pause' }).click();
  const first = await page.getByRole('row').nth(1).textContent();
  for (let at = 0; at < 3; at++) await charge('/a', 'while-paused');
  await page.getByText(/^Paused, [1-9]\d* new$/).waitFor();
  expect(await page.getByRole('row').nth(1).textContent()).toBe(first);
  await opened.look('invocations-busy');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('link', { name: 'while-paused' }).first().waitFor();
});

test('runs of Reactors are there, and filters find things by name and apply at once', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { charge, react, reactor, proxy, backend, sluice } = world.current;
  for (let at = 1; at <= 24; at++) {
    await sluice.proxies.create({ name: `Warehouse ${at}`, destination_url: 'https://warehouse.example' });
  }
  await charge('/a', 'named-charge');
  await charge('/fail', 'named-failure');
  await react('a card', 'named-run');
  await react('nothing', 'named-error').catch(() => undefined);
  await opened.goto('/invocations', 'Invocations');
  const link = (traceId: string) => page.getByRole('link', { name: traceId, exact: true });
  const shown = async () => {
    const names = ['named-charge', 'named-failure', 'named-run', 'named-error'];
    const counts = await Promise.all(names.map((name) => link(name).count()));
    return names.filter((_, at) => counts[at] === 1);
  };
  const search = () => Object.fromEntries(new URL(page.url()).searchParams);
  await eventuallyEqual(shown, ['named-charge', 'named-failure', 'named-run', 'named-error']);
  const row = page.getByRole('row', { name: /named-error/ });
  await row.getByRole('link', { name: reactor.name }).waitFor();
  await row.getByRole('link', { name: backend.name }).waitFor();
  await row.getByText('The code of the Reactor threw an error or took too long').waitFor();
  await page.getByRole('combobox', { name: 'Proxy' }).click();
  await page.getByText('And 5 more. Type to narrow the list.').waitFor();
  await opened.screenshot('invocations-picker');
  await page.getByRole('combobox', { name: 'Proxy' }).fill('long name');
  await page.getByRole('option').getByText(proxy.name).click();
  await eventuallyEqual(shown, ['named-charge', 'named-failure']);
  expect(search()).toEqual({ proxy_id: proxy.id });
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: '5xx failed' }).click();
  await eventuallyEqual(shown, ['named-failure']);
  expect(search()).toEqual({ proxy_id: proxy.id, status: '5xx' });
  await page.reload();
  await eventuallyEqual(shown, ['named-failure']);
  expect(await page.getByRole('combobox', { name: 'Proxy' }).inputValue()).toBe(proxy.name);
  await opened.look('invocations-filtered');
  await page.getByRole('combobox', { name: 'Reactor' }).fill('Country');
  await page.getByRole('option', { name: reactor.name }).click();
  await eventuallyEqual(shown, ['named-error']);
  expect(search()).toEqual({ reactor_id: reactor.id, status: '5xx' });
  await page.getByRole('button', { name: 'Clear Status' }).click();
  await eventuallyEqual(shown, ['named-run', 'named-error']);
  await page.getByRole('textbox', { name: 'Trace', exact: true }).pressSequentially('named-run');
  await eventuallyEqual(shown, ['named-run']);
  await page.getByRole('button', { name: 'Clear Trace' }).click();
  await eventuallyEqual(shown, ['named-run', 'named-error']);
  await page.getByRole('button', { name: 'Clear all' }).click();
  await eventuallyEqual(shown, ['named-charge', 'named-failure', 'named-run', 'named-error']);
  expect(search()).toEqual({});
  await page.getByRole('combobox', { name: 'Application' }).fill('no such name');
  await page.getByText('No name contains “no such name”.').waitFor();
});

test('a row opens as a whole, at an address that stays', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { react, reactor, token } = world.current;
  await react('a card', 'opened-run');
  await opened.goto(`/invocations?reactor_id=${reactor.id}`, 'Invocations');
  const row = page.getByRole('row', { name: /opened-run/ });
  const dialog = page.getByRole('dialog');
  await row.getByText('POST').click();
  await dialog.getByText('looking up a card').waitFor();
  await dialog.getByRole('heading', { name: `Run of ${reactor.name}` }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/invocations/opened-run');
  await opened.look('invocation-run');
  await page.reload();
  await dialog.getByText('looking up a card').waitFor();
  await dialog.getByRole('link', { name: token.id }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(page.url()).toContain(`/invocations?reactor_id=${reactor.id}`);
  await row.getByRole('link').first().press('Enter');
  await dialog.getByText('looking up a card').waitFor();
  await dialog.locator(':focus').waitFor(); // until then it takes no keys
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a text of a row can be selected, and its links lead where they say', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { react, reactor } = world.current;
  await react('nothing', 'selected-run').catch(() => undefined);
  await opened.goto('/invocations?trace_id=selected-run', 'Invocations');
  const row = page.getByRole('row', { name: /selected-run/ });
  const box = await row.getByText('The code of the Reactor').boundingBox();
  if (!box) throw new Error('The reason is not visible');
  await page.mouse.move(box.x + 2, box.y + 6);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 6, { steps: 5 });
  await page.mouse.up();
  expect(await page.evaluate(() => getSelection()?.toString())).not.toBe('');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await row.getByRole('link', { name: reactor.name }).click();
  await page.getByRole('heading', { name: reactor.name, level: 1 }).waitFor();
  const runs = page.getByRole('group', { name: 'Last invocations' });
  await runs.getByText('reactor_failed').first().waitFor();
  await opened.look('reactor-invocations');
  await runs.getByText('reactor_failed').first().click();
  await page
    .getByRole('dialog')
    .getByRole('heading', { name: `Run of ${reactor.name}` })
    .waitFor();
});

test('a call that is no longer kept says so, and leads to the log', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await page.goto(`${world.current.consoleUrl}/invocations/long-ago`);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This call is no longer shown').waitFor();
  await opened.look('invocation-gone');
  await dialog.getByRole('link', { name: 'Audit log of this trace id' }).click();
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  expect(new URL(page.url()).search).toBe('?trace_id=long-ago');
});
