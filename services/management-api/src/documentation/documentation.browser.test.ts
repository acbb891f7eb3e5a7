import { eventually, useStack } from '@sluice/testing';
import { findBarriers, openBrowser, renderings } from '@sluice/testing/browser';
import { startTestManagement } from '../testing/test-management.ts';

const world = useStack(async (stack) => {
  return { api: await startTestManagement(stack), browser: await openBrowser() };
});

async function open(path: string, { width, scheme }: Look) {
  const stack = new AsyncDisposableStack();
  const { browser, api } = world.current;
  const opened = await browser.openPage(stack, {
    viewport: { width, height: 800 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  await opened.page.goto(`${api.url}${path}`);
  return { ...opened, origin: api.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

interface Look {
  width: number;
  scheme: 'light' | 'dark';
}

describe.each(renderings)('the API reference, $width px wide and $scheme', (look) => {
  test('is read without a fault, by everybody, and is never wider than its window', async () => {
    await using opened = await open('/docs', look);
    const { page, seen, origin } = opened;
    const name = `docs-${look.width}-${look.scheme}`;
    await opened.screenshot(name);
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(look.width);
    expect(seen).toMatchObject({ errors: [], violations: [] });
    const own = [`${origin}/docs`, `${origin}/docs/reference.css`, `${origin}/docs/icon.svg`];
    expect(new Set(seen.requests)).toEqual(new Set(own));
    await page.goto(`${origin}/docs#createToken`);
    await opened.screenshot(`${name}-operation`);
  });
});

test('on the base host it shows and does not try: nothing takes a key', async () => {
  await using opened = await open('/docs', { width: 1440, scheme: 'light' });
  const { page, seen, origin } = opened;
  expect(await page.locator('main h3').count()).toBeGreaterThan(50);
  expect(await page.locator('input, textarea, select, button, form, script, [contenteditable]').count()).toBe(0);
  await page.locator('nav a[href="#createProxy"]').click();
  await page.waitForURL(/#createProxy$/);
  expect(opened.requestsBeyond(origin)).toEqual([]);
  expect(seen.violations).toEqual([]);
});

test('of the tabs of an example one is open, without a script', async () => {
  await using opened = await open('/docs#createToken', { width: 1440, scheme: 'light' });
  const tabs = opened.page.locator('#createToken .tabbed details');
  await tabs.filter({ hasText: 'TypeScript' }).locator('summary').click();
  await opened.page.getByText('await sluice.tokens.create(', { exact: false }).first().waitFor();
  expect(await tabs.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open))).toEqual([false, true]);
  await opened.screenshot('docs-typescript');
});

test('code that finds its way into the page does not run', async () => {
  await using opened = await open('/docs', { width: 1440, scheme: 'light' });
  const { page, seen } = opened;
  const done = await page.evaluate(async () => {
    const attempts: Record<string, () => unknown> = {
      loaded: () => Object.assign(document.createElement('script'), { src: '/openapi.json' }),
      written: () => Object.assign(document.body, { innerHTML: '<b>x</b>' }),
      clicked: () => {
        document.body.setAttribute('onclick', 'window.ran = true');
        document.body.click();
        if (!('ran' in window)) throw new Error('did not run');
      },
      sent: () => fetch('/openapi.json'),
    };
    const succeeded: string[] = [];
    for (const [name, attempt] of Object.entries(attempts)) {
      const holds = await Promise.resolve()
        .then(attempt)
        .then(
          () => true,
          () => false,
        );
      if (holds) succeeded.push(name);
    }
    return succeeded;
  });
  expect(done).toEqual([]);
  await eventually('the violations', () => seen.violations.length >= 4);
  expect(new Set(seen.violations.map(({ directive }) => directive))).toEqual(
    new Set(['require-trusted-types-for', 'connect-src']),
  );
});

test('the page of the base URL leads there', async () => {
  await using opened = await open('/', { width: 320, scheme: 'light' });
  await opened.screenshot('welcome');
  expect(await findBarriers(opened.page)).toEqual([]);
  await opened.page.getByRole('link').click();
  await opened.page.getByRole('heading', { name: 'Sluice API', level: 1, exact: true }).waitFor();
});
