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
  return { ...platform, backend, proxy, token, charge };
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
  await page.getByText('Nobody has called a Proxy in the last 15 minutes').waitFor();
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
  for (const name of ['Proxy', 'Trace id']) await page.getByRole('columnheader', { name }).waitFor();
  await page
    .getByRole('row', { name: /first-charge/ })
    .getByRole('button')
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
  await row.getByRole('button').click();
  const dialog = page.getByRole('dialog');
  const guard = dialog.locator('section', { has: page.getByRole('heading', { name: 'Response guard' }) });
  await guard.getByText('The response guard found a value of the request in the response. Its token:').waitFor();
  await guard.getByRole('link', { name: token.id }).waitFor();
  await opened.look('invocation-guarded');
  expect(await page.content()).not.toContain(number);
  const found = async () => {
    const rows = (await sluice.logs.list({ token_id: token.id, trace_id: 'guarded-charge', size: 10 }).page()).data;
    return rows.filter(({ detail }) => detail?.guard_hits === 1).length;
  };
  await eventuallyEqual(found, 1);
  await opened.goto('/audit?trace_id=guarded-charge', 'Audit');
  const logged = page.getByRole('row').filter({ hasText: 'Value came back' });
  await logged.getByText('Response guard found a value').waitFor();
  await opened.look('audit-guarded');
  await logged.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Value came back' }).waitFor();
  await page.getByText('Response guard found a value', { exact: true }).waitFor();
  await opened.look('audit-row-guarded');
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
  await page.getByRole('textbox', { name: 'Status' }).fill('404');
  await page.keyboard.press('Enter');
  await page.getByText('No call of the last 15 minutes matches').waitFor();
  opened.expectStatus(400);
  await page.getByRole('textbox', { name: 'Status' }).fill('many');
  await page.keyboard.press('Enter');
  await page.getByText(/^status: /).waitFor();
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
