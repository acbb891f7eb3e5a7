import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const guide = new URL('../../../guides/tour-of-the-console.md', import.meta.url);
/** Not in Git. Copy them to `infra/guides/pictures` if the console looks different. */
const taken = new URL('../../../../screenshots/tour/', import.meta.url);

const code = `// Sends only what the payment processor needs.
module.exports = async (req) => {
  const { amount, card } = req.args.body;
  console.log('charging', amount);
  return { body: { amount, currency: 'EUR', card } };
};
`;

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const { sluice, stack } = platform;
  await sluice.tenant.update({ name: 'Shop', settings: {} });
  const destination = await serveHttp(closing, ({ url }, response) => {
    const status = url?.includes('/refunds') ? 500 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"status":"succeeded"}');
  });
  const cards = { priority: 1, container: '/pci/' };
  const backend = await sluice.applications.create({
    name: 'Backend of the shop',
    type: 'private',
    rules: [
      { ...cards, transform: 'reveal', permissions: ['token:create', 'token:use'], description: 'Charges cards' },
      { ...cards, priority: 2, transform: 'mask', permissions: ['token:read'], description: 'Shows the last digits' },
    ],
  });
  await sluice.applications.create({ name: 'Checkout page', type: 'public', permissions: ['token:create'] });
  const proxy = await sluice.proxies.create({
    name: 'Payments',
    destination_url: destination,
    path_name: 'payments',
    request_transform: { code },
  });
  const client = clientOf(stack.baseUrl, backend.key).sluice;
  const tokens: string[] = [];
  for (const [at, number] of ['4242424242424242', '5555555555554444', '378282246310005'].entries()) {
    const metadata = { customer: `c-${1041 + at}` };
    tokens.push((await client.tokens.create({ type: 'card', data: { number }, metadata })).id);
  }
  const [token = ''] = tokens;
  const charge = (path: string, traceId: string, card = token) =>
    client.proxy(proxy.key).fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'SVC-TRACE-ID': traceId },
      body: JSON.stringify({ amount: 4200, card: `{{ ${card} | json: '$.number' }}` }),
    });
  return { ...platform, backend, proxy, token, charge };
});

/** The window, or with `whole` the page to its end, as WebP, which is a third of the size of PNG. */
async function takePicture(page: Page, name: string, { whole = false } = {}): Promise<void> {
  if (whole) await page.evaluate(() => scrollTo(0, 0));
  const debug = await page.context().newCDPSession(page);
  const { cssContentSize, cssLayoutViewport } = await debug.send('Page.getLayoutMetrics');
  const clip = { x: 0, y: 0, width: cssLayoutViewport.clientWidth, height: cssContentSize.height, scale: 1 };
  const { data } = await debug.send('Page.captureScreenshot', {
    ...{ format: 'webp', quality: 80 },
    ...(whole && { clip, captureBeyondViewport: true }),
  });
  await debug.detach();
  await mkdir(taken, { recursive: true });
  await writeFile(new URL(`${name}.webp`, taken), Buffer.from(data, 'base64'));
}

const stops = [
  'overview',
  'tokens',
  'token',
  'application',
  'explain',
  'proxy',
  'transform',
  'invocations',
  'audit',
  'people',
];

test('the tour of the console finds every screen that it shows', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, backend, proxy, token, charge } = world.current;
  await page.setViewportSize({ width: 1120, height: 700 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  for (let at = 0; at < 24; at++) await charge('/charges', `charge-${1000 + at}`);
  await charge('/refunds', 'refund-17');
  await charge('/charges', 'charge-1024', 'no-such-token');
  await eventually('the figures', async () =>
    (await sluice.tenant.metrics()).requests.some((count) => (count ?? 0) > 0),
  );

  await opened.goto('/', 'Overview');
  await page.getByText('in the last hour', { exact: true }).waitFor();
  await takePicture(page, 'overview');

  await opened.goto('/tokens', 'Tokens');
  await page.getByText('1–3 of 3').waitFor();
  await takePicture(page, 'tokens');

  await opened.goto(`/tokens/${token}`, 'Token');
  await page.getByRole('cell', { name: 'Proxy called' }).first().waitFor();
  await takePicture(page, 'token');

  await opened.goto(`/applications/${backend.id}`, 'Backend of the shop');
  await page.getByRole('cell', { name: 'Key 1' }).waitFor();
  await takePicture(page, 'application');

  await opened.goto(`/applications/${backend.id}?token=${token}`, 'Backend of the shop');
  await page.getByText('Decided by rule 2').waitFor();
  const asked = page.getByRole('region', { name: 'What may this Application do with a token?' });
  await asked.evaluate((region) => region.scrollIntoView({ block: 'center' }));
  await takePicture(page, 'explain');

  await opened.goto(`/proxies/${proxy.id}`, 'Payments');
  await page.getByText('/routes/payments').first().waitFor();
  await takePicture(page, 'proxy');

  await page.getByRole('link', { name: 'Request transform' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('"currency": "EUR"').waitFor();
  await takePicture(page, 'transform', { whole: true });

  await opened.goto('/invocations', 'Invocations');
  await page.getByRole('cell', { name: 'An expression or a token in the request was wrong' }).waitFor();
  await takePicture(page, 'invocations');

  await opened.goto('/audit', 'Audit');
  await page.getByRole('cell', { name: 'Backend of the shop' }).first().waitFor();
  await takePicture(page, 'audit');

  await opened.goto('/settings/people', 'Settings');
  await page.getByText('No open invitations').waitFor();
  await takePicture(page, 'people');
});

test('the guide shows each picture once, and each is small', async () => {
  const text = await readFile(guide, 'utf8');
  const shown = Array.from(text.matchAll(/\]\(pictures\/tour\/([\w-]+)\.webp\)/g), ([, name]) => name);
  expect(shown).toEqual(stops);
  for (const name of stops) {
    const { size } = await stat(new URL(`pictures/tour/${name}.webp`, guide));
    expect({ name, isSmall: size < 60_000 }).toEqual({ name, isSmall: true });
  }
});
