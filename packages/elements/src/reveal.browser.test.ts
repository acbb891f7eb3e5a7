import { eventually, eventuallyEqual, useStack } from '@sluice/testing';
import { startShops } from '@sluice/testing/browser';

const shops = useStack(startShops);
const asked = () => shops.current.vault.asked;

async function openReveal() {
  const shop = await shops.current.open({ context: { permissions: ['clipboard-read', 'clipboard-write'] } });
  await shop.page.evaluate(() => {
    const target = Object.assign(document.createElement('div'), { id: 'reveal', className: 'field' });
    document.getElementById('form')?.append(target);
    const authorize = async (nonce: string) => window.events.push(['reveal', 'nonce', nonce]);
    const field = window.shop.field('reveal', target, { title: 'Card', token: 'a token', authorize });
    window.mounted.reveal = field;
    for (const name of ['change', 'error'] as const) {
      field.on(name, (event) => window.events.push(['reveal', name, event]));
    }
    return field.ready;
  });
  return shop;
}

test('a token is revealed in the frame, copied, and hidden again', async () => {
  await using shop = await openReveal();
  const frame = shop.frame('reveal');
  const shown = () => frame.locator('output').allTextContents();
  await frame.getByRole('button', { name: 'Show' }).click();
  await frame.getByText('4242 4242 4242 4242').waitFor();
  await eventuallyEqual(shown, ['4242 4242 4242 4242', '12 / 30', '123', '']);
  expect(asked().map(({ method, path, headers }) => [method, path, headers['svc-api-key']])).toEqual([
    ['POST', '/sessions', 'public-key'],
    ['GET', '/tokens/a%20token', 'session-key'],
  ]);
  expect(JSON.stringify(await shop.eventsOf('reveal'))).not.toMatch(/4242|session-key/);
  await frame.getByRole('button', { name: 'Hide' }).click();
  await eventuallyEqual(shown, ['••••••••']);
});

test('what is revealed goes after a minute', async () => {
  await using shop = await openReveal();
  const frame = shop.frame('reveal');
  const shown = () => frame.locator('output').allTextContents();
  await shop.page.clock.install();
  await frame.getByRole('button', { name: 'Show' }).click();
  await frame.getByText('4242 4242 4242 4242').waitFor();
  // Half of the minute, because the real time passes, too.
  await shop.page.clock.runFor(30_000);
  expect(await frame.locator('output').count()).toBe(4);
  await shop.page.clock.runFor(30_000);
  await eventuallyEqual(shown, ['••••••••']);
});

test('what the page hides before it has come is not shown', async () => {
  await using shop = await openReveal();
  const frame = shop.frame('reveal');
  const before = asked().length;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await shop.page.route('**/tokens/*', (route) => held.then(() => route.continue()));
  await frame.getByRole('button', { name: 'Show' }).click();
  await eventually('the session', () => asked().length === before + 1);
  await shop.page.evaluate(() => window.mounted.reveal?.clear());
  release();
  await eventually('the token', () => asked().length === before + 2);
  await eventually('the button', () => frame.getByRole('button', { name: /Show|Hide/ }).isEnabled());
  expect(await frame.locator('output').allTextContents()).toEqual(['••••••••']);
});

test('a copy gives the number without blanks', async () => {
  await using shop = await openReveal();
  const { page } = shop;
  const frame = shop.frame('reveal');
  await page.bringToFront();
  await frame.getByRole('button', { name: 'Show' }).click();
  await frame.getByRole('button', { name: 'Copy' }).first().click();
  await frame.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('4242424242424242');
});

test('what the page has laid something over is not copied', async () => {
  await using shop = await openReveal();
  const { page } = shop;
  const frame = shop.frame('reveal');
  await page.bringToFront();
  await frame.getByRole('button', { name: 'Show' }).click();
  const copy = frame.getByRole('button', { name: 'Copy' }).first();
  await eventually('the button', () => copy.isEnabled());
  await page.evaluate(async () => {
    await navigator.clipboard.writeText('before');
    const bait = Object.assign(document.createElement('div'), { id: 'bait', textContent: 'Win a prize' });
    Object.assign(bait.style, { position: 'fixed', inset: '0', background: 'white', pointerEvents: 'none' });
    document.body.append(bait);
  });
  await eventually('the button', () => copy.isDisabled());
  await copy.click({ force: true });
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('before');
  await page.evaluate(() => document.getElementById('bait')?.remove());
  await copy.click();
  await frame.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('4242424242424242');
});

test('the height of the frame says nothing of what is revealed, however narrow the page makes it', async () => {
  await using shop = await openReveal();
  const { page } = shop;
  const element = page.locator('#reveal iframe');
  const heights = async () => {
    await shop.frame('reveal').getByRole('button', { name: 'Show' }).click();
    await shop.frame('reveal').getByRole('button', { name: 'Hide' }).waitFor();
    const seen: (number | undefined)[] = [];
    for (const width of ['400px', '240px', '190px']) {
      await element.evaluate((frame, to) => Object.assign(frame.style, { width: to }), width);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      await shop
        .frame('reveal')
        .locator('body')
        .evaluate(() => new Promise(requestAnimationFrame));
      seen.push((await shop.frame('reveal').locator('body').boundingBox())?.height);
    }
    await shop.frame('reveal').getByRole('button', { name: 'Hide' }).click();
    return seen;
  };
  const answer = (data: string) =>
    shops.current.vault.prepared.push(
      { status: 201, body: { session_key: 's', nonce: 'n' } },
      { status: 200, body: { type: 'token', data } },
    );
  answer('i');
  const short = await heights();
  answer('Wide words\nin several lines, 漢字 and 👍 among them');
  expect(await heights()).toEqual(short);
});

test('the buttons are seen, whatever the theme of the page, so that nobody clicks one without knowing', async () => {
  await using shop = await openReveal();
  await shop.page.evaluate(() =>
    window.mounted.reveal?.update({
      theme: { base: { color: 'transparent', 'font-size': '1px', 'text-shadow': 'none', 'line-height': '0' } },
    }),
  );
  const look = () =>
    shop
      .frame('reveal')
      .getByRole('button', { name: 'Show' })
      .evaluate((button) => {
        const { color, backgroundColor, fontSize } = getComputedStyle(button);
        return { color, backgroundColor, isLegible: Number.parseFloat(fontSize) >= 11 };
      });
  await eventually('the theme', async () =>
    shop
      .frame('reveal')
      .locator('body')
      .evaluate((body) => getComputedStyle(body).color === 'rgba(0, 0, 0, 0)'),
  );
  expect(await look()).toEqual({ color: 'rgb(31, 31, 31)', backgroundColor: 'rgb(255, 255, 255)', isLegible: true });
});

test('a token that may not be read is not shown, and the page is told', async () => {
  await using shop = await openReveal();
  shops.current.vault.prepared.push(
    { status: 201, body: { session_key: 's', nonce: 'n' } },
    { status: 404, body: { title: 'Not Found' } },
  );
  await shop.frame('reveal').getByRole('button', { name: 'Show' }).click();
  await shop.frame('reveal').getByText('The value cannot be shown').waitFor();
  await eventuallyEqual(() => shop.eventsOf('reveal'), expect.arrayContaining([{ status: 404, title: 'Not Found' }]));
  shop.seen.errors.length = 0;
});
