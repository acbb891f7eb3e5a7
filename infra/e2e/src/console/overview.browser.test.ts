import type { TenantMetrics } from '@sluice/sdk';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const destination = await serveHttp(closing, ({ url }, response) => {
    response.writeHead(url?.includes('fail') ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...platform, destination };
});

const calling = { type: 'private' as const, permissions: ['token:create' as const, 'token:use' as const] };

const stepsOf = { hour: [60, 60], day: [96, 900], week: [84, 7_200], month: [120, 21_600] } as const;
type Range = keyof typeof stepsOf;

/** Figures of a range with something in each step, but for the `unknown` steps at its beginning. */
function busy(range: Range, unknown = 0): TenantMetrics {
  const [steps, stepS] = stepsOf[range];
  const toMs = Math.ceil(Date.now() / (stepS * 1000)) * stepS * 1000;
  const fromMs = toMs - steps * stepS * 1000;
  const list = (of: (at: number) => number) =>
    Array.from({ length: steps }, (_, at) => (at < unknown ? null : Math.round(of(at) * 10) / 10));
  const wave = (at: number) => 1 + Math.sin(at / 6) * 0.6 + ((at * 7919) % 13) / 20;
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    step_s: stepS,
    known_from: new Date(fromMs + unknown * stepS * 1000).toISOString(),
    requests: list((at) => Math.round(wave(at) * 800)),
    errors: {
      invalid_proxy_request: list((at) => (at % 9 === 0 ? 12 : 0)),
      destination_timeout: list((at) => (at % 17 === 0 ? 31 : 1)),
    },
    destination_errors: list((at) => (at > steps * 0.7 && at < steps * 0.78 ? 160 : 3)),
    latency_ms: { p50: list((at) => 38 + wave(at) * 4), p99: list((at) => 160 + wave(at) * 60) },
  };
}

/** Answers for the service what it knows of each range. */
async function answerMetrics(page: Page, of: (range: Range) => TenantMetrics): Promise<void> {
  await page.route('**/api/tenants/self/metrics*', (route) => {
    const range = (new URL(route.request().url()).searchParams.get('range') ?? 'hour') as Range;
    return route.fulfill({ json: of(range) });
  });
}

/** Nothing in any step. */
function quiet(range: Range): TenantMetrics {
  const { requests, errors: _, known_from, ...times } = busy(range);
  const [zeros, nulls] = [requests.map(() => 0), requests.map(() => null)];
  return { ...times, requests: zeros, errors: {}, destination_errors: zeros, latency_ms: { p50: nulls, p99: nulls } };
}

test('a new Tenant is led to its first invocation, and then sees its figures, also after a quiet hour', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, destination } = world.current;
  const done = page.getByText('(done)');
  await opened.goto('/', 'Overview');
  await page.getByRole('heading', { name: 'Your first invocation' }).waitFor();
  expect(await done.count()).toBe(0);
  await page.getByText('http://127.0.0.1:7000', { exact: true }).waitFor();
  await opened.look('overview-first');
  await page.getByRole('link', { name: 'New Application' }).click();
  await page.getByRole('heading', { name: 'New Application', level: 1 }).waitFor();
  const chosen = page.getByRole('checkbox', { checked: true });
  await chosen.first().waitFor();
  expect(await chosen.evaluateAll((boxes) => boxes.map((box) => box.closest('label')?.textContent))).toEqual([
    expect.stringContaining('token:create'),
    expect.stringContaining('token:use'),
  ]);
  await opened.goto('/', 'Overview');
  const proxy = await sluice.proxies.create({ name: 'P', destination_url: destination });
  const caller = await sluice.applications.create({ ...calling, name: 'Caller' });
  const client = clientOf(stack.baseUrl, caller.key).sluice;
  const token = await client.tokens.create({ type: 'card', data: { number: '4242424242424242' } });
  await page.reload();
  await page.getByRole('link', { name: token.id }).waitFor();
  expect(await done.count()).toBe(3);
  await opened.look('overview-first-done');

  const one = client.proxy(proxy.key);
  for (let at = 0; at < 40; at++) await one.fetch('/a');
  for (let at = 0; at < 2; at++) await one.fetch('/fail');
  for (let at = 0; at < 3; at++) await one.fetch('/a', { method: 'POST', body: '{{ nothing }}' });
  const other = await sluice.proxies.create({ name: 'Other', destination_url: destination });
  await client.proxy(other.key).fetch('/a');
  const tile = (name: string) => page.locator('dl > div', { has: page.getByText(name, { exact: true }) }).first();
  await eventually('the figures', async () => {
    await page.reload();
    await tile('Invocations').waitFor();
    return (await tile('Invocations').innerText()).includes('46');
  });
  expect(await tile('Failed').innerText()).toMatch(/^Failed\s+3\s/);
  expect(await tile('Destination errors').innerText()).toMatch(/^Destination errors\s+2\s/);
  await page.getByText('Sluice itself answered, with an error code').waitFor();
  await page.getByText('The destination answered 500 or above').waitFor();
  await page.getByText('An expression or a token in the request was wrong').waitFor();
  await opened.look('overview');

  await page.route('**/api/tenants/self/metrics*', (route) =>
    route.request().url().includes('range=hour') ? route.fulfill({ json: quiet('hour') }) : route.fallback(),
  );
  await page.reload();
  await page.getByText('Nothing failed in the last hour.').waitFor();
  expect(await tile('Invocations').innerText()).toMatch(/^Invocations\s+0\s/);
  expect(await page.locator('body').innerText()).not.toContain('NaN');
  expect(await page.getByText('Your first invocation').count()).toBe(0);
  await opened.look('overview-quiet');
});

test('a Proxy, an Application and a Reactor have figures of their own', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, destination, query } = world.current;
  const proxy = await sluice.proxies.create({ name: 'Of its own', destination_url: destination });
  const code = 'module.exports = async () => ({ raw: {} });';
  const reactor = await sluice.reactors.create({ name: 'Runs', code });
  const caller = await sluice.applications.create({ ...calling, name: 'Calls both' });
  const count = (kind: string, id: string, counts: [requests: number, destinationErrors: number]) =>
    query(
      `insert into invocation_counts (tenant_id, step, start, kind, id, requests, destination_errors, errors, durations)
       values ($1, 900, date_bin('900 s', now(), 'epoch'), $2, $3, $4, $5, '{}', '{}')`,
      [stack.credentials.tenant_id, kind, id, ...counts],
    );
  await count('proxy', proxy.id, [3, 3]);
  await count('application', caller.id, [5, 3]);
  await count('reactor', reactor.id, [2, 0]);
  const shown = async (path: string, heading: string) => {
    await opened.goto(path, heading);
    const metrics = page.getByRole('region', { name: 'Metrics', exact: true });
    const number = (name: string) =>
      metrics.locator('dl > div', { has: page.getByText(name, { exact: true }) }).first();
    await number('Invocations').waitFor();
    const names = ['Invocations', 'Destination errors', 'Failed'];
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, (await number(name).locator('dd').innerText()).trim()])),
    );
  };
  await opened.goto(`/proxies/${proxy.id}`, 'Of its own');
  await page.getByText('No invocations in the last hour.').waitFor();
  await opened.look('metrics-nothing');
  for (const [path, heading, invocations, theirs] of [
    [`/proxies/${proxy.id}?range=day`, 'Of its own', '3', '3'],
    [`/applications/${caller.id}?range=day`, 'Calls both', '5', '3'],
    [`/reactors/${reactor.id}?range=day`, 'Runs', '2', '0'],
  ] as const) {
    expect(await shown(path, heading)).toEqual({
      ...{ Invocations: invocations, 'Destination errors': theirs, Failed: '0' },
    });
    await opened.look(`metrics-${path.split('/')[1]}`);
  }
});

test('what is unknown is a dash and a hatched part, and no zero', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await answerMetrics(page, (range) => busy(range, stepsOf[range][0]));
  await opened.goto('/', 'Overview');
  await page.getByText('no data yet').first().waitFor();
  const tile = page.locator('dl > div', { has: page.getByText('Invocations', { exact: true }) }).first();
  expect(await tile.innerText()).toMatch(/^Invocations\s+–\s+no data yet$/);
  expect(await page.getByText('Your first invocation').count()).toBe(0);
  await opened.look('overview-unknown');
});

test('a busy month has a read-out for pointer and keyboard, a table, and leads to what it counts', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await answerMetrics(page, (range) => busy(range, range === 'month' ? 40 : 0));
  await opened.goto('/?range=month', 'Overview');
  await page.getByText('no data yet').first().waitFor();
  await opened.look('overview-month');
  await page.getByRole('link', { name: 'Hour', exact: true }).click();
  await page.getByRole('heading', { name: 'Invocations per minute' }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(await page.locator('nav[aria-label=Range] [aria-current]').allInnerTexts()).toEqual(['Hour']);

  const steps = page.getByRole('slider', { name: /^Steps of Invocations/ });
  await steps.focus();
  const newest = await steps.getAttribute('aria-valuetext');
  await page.keyboard.press('ArrowLeft');
  const former = await steps.getAttribute('aria-valuetext');
  expect(former).not.toBe(newest);
  expect(former).toMatch(/: \d+ invocations, \d+ failed, 3 destination errors, latency \d+ ms, 99% below \d+ ms$/);
  await opened.look('overview-step');
  await page.keyboard.press('Escape');
  const { x = 0, y = 0, width = 0, height = 0 } = (await steps.boundingBox()) ?? {};
  await page.mouse.move(x + width * 0.25, y + height / 2);
  await page.getByRole('link', { name: 'Audit log', exact: true }).waitFor();
  await page.mouse.click(x + width * 0.25, y + height / 2);
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  const { searchParams } = new URL(page.url());
  const between = Date.parse(searchParams.get('end_date') ?? '') - Date.parse(searchParams.get('start_date') ?? '');
  expect(between).toBe(60_000);
  await page.goBack();
  await steps.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Invocations', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'The destination did not answer in time' }).click();
  await page.getByRole('heading', { name: 'Invocations', level: 1 }).waitFor();
  expect(new URL(page.url()).searchParams.get('status')).toContain('504');
  await page.goBack();
  await page.getByRole('button', { name: 'Show as a table' }).click();
  expect(await page.getByRole('group', { name: 'Metrics by step' }).getByRole('row').count()).toBe(61);
  await page
    .getByText(/^\d\d:\d\d – \d\d:\d\d$/)
    .first()
    .waitFor();
  expect(
    await page
      .locator('figure')
      .getByText(/^[A-Z]{2,5}([+-][0-9:]+)?$/)
      .count(),
  ).toBe(2);
  await opened.look('overview-table');
});
