import { eventually, eventuallyEqual, serveHttp, useStack } from '@sluice/testing';
import { openBrowser, startFieldsVault } from '@sluice/testing/browser';
import { build } from 'vite';

const world = useStack(async (stack) => {
  const vault = await startFieldsVault(stack);
  const script = await bundle(new URL('testing/react-shop.tsx', import.meta.url).pathname);
  const url = await serveHttp(stack, (request, response) => {
    if (request.url === '/shop.js') return void response.setHeader('Content-Type', 'text/javascript').end(script);
    response.setHeader('Content-Type', 'text/html');
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; img-src data:; script-src 'self'; frame-src ${vault.origin}`,
    );
    response.end(`<!doctype html><html lang="en" data-vault="${vault.origin}"><head><title>Shop</title>
      <link rel="icon" href="data:,"></head><body><script type="module" src="/shop.js"></script></body></html>`);
  });
  return { vault, shop: url.replace('127.0.0.1', 'shop.localhost'), browser: await openBrowser() };
});

/** With React's checks for development, which mount everything twice. */
async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    mode: 'development',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, minify: false, rollupOptions: { input: entry }, modulePreload: false },
  });
  const [output] = [built].flat();
  const chunk = output && 'output' in output ? output.output.find(({ type }) => type === 'chunk') : undefined;
  if (chunk?.type !== 'chunk') throw new Error('no script was built');
  return chunk.code;
}

test('fields in React, in its strict mode: typed, disabled, taken away, shown again, and a token', async () => {
  await using stack = new AsyncDisposableStack();
  const { vault, shop, browser } = world.current;
  const { page, seen } = await browser.openPage(stack);
  await page.goto(shop);
  const input = (id: string) => page.locator(`#${id} iframe`).contentFrame().locator('input');
  await input('number').fill('4242424242424242');
  await eventually('the change', async () => (await page.locator('#complete').textContent()) === 'true');
  await eventuallyEqual(() => page.locator('iframe').count(), 2);
  await page.locator('#disable').click();
  await eventually('the field disabled', () => input('number').isDisabled());
  expect(await input('number').inputValue()).toBe('4242 4242 4242 4242');
  await page.locator('#disable').click();
  await eventually('the field enabled', () => input('number').isEnabled());

  await page.locator('#toggle').click();
  await eventuallyEqual(() => page.locator('iframe').count(), 0);
  await page.locator('#toggle').click();
  await input('number').fill('5555555555554444');
  await input('expiry').fill('12/30');
  await input('number').press('Enter');
  await eventually('the token', async () => (await page.locator('#token').textContent()) !== '');
  expect(vault.asked.map(({ body }) => body)).toEqual([
    { type: 'card', data: { number: '5555555555554444', expiration_month: 12, expiration_year: 2030 } },
  ]);
  expect(seen).toMatchObject({ errors: [], violations: [] });
});
