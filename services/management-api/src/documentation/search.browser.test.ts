import { eventually, useStack } from '@sluice/testing';
import { findBarriers, openBrowser, renderings } from '@sluice/testing/browser';
import { startTestManagement } from '../testing/test-management.ts';

const world = useStack(async (stack) => {
  const api = await startTestManagement(stack, { CONSOLE_HOST: 'console.localhost' });
  return { origin: api.url.replace('127.0.0.1', 'console.localhost'), browser: await openBrowser() };
});

/** The reference at the console's host. When it is disposed of, it must have had no fault. */
async function openReference({ width, scheme }: { width: number; scheme: 'light' | 'dark' }) {
  const stack = new AsyncDisposableStack();
  const { browser, origin } = world.current;
  const viewport = { width, height: 800 };
  const opened = await browser.openPage(stack, { viewport, colorScheme: scheme, reducedMotion: 'reduce' });
  await opened.page.goto(`${origin}/docs`);
  const search = opened.page.getByRole('combobox', { name: 'Search titles, paths and members' });
  await search.waitFor();
  return {
    ...opened,
    search,
    options: opened.page.getByRole('option'),
    async [Symbol.asyncDispose]() {
      const { errors, violations } = opened.seen;
      const faults = { errors, violations, requests: opened.requestsBeyond(origin) };
      await stack.disposeAsync();
      expect(faults).toEqual({ errors: [], violations: [], requests: [] });
    },
  };
}

const desk = { width: 1280, scheme: 'light' } as const;

describe.each(renderings)('the search, $width px wide and $scheme', (look) => {
  test('is read by everybody, and is never wider than its window', async () => {
    await using opened = await openReference(look);
    const { page, search, options } = opened;
    const name = `docs-search-${look.width}-${look.scheme}`;
    await opened.screenshot(`${name}-before`);
    await search.fill('path');
    await options.first().waitFor();
    await opened.screenshot(name);
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(look.width);
    await search.fill('allowed_paths');
    await search.press('Enter');
    await opened.screenshot(`${name}-member`);
    await page.goto(`${world.current.origin}/docs#createToken`);
    await opened.screenshot(`${name}-operation`);
  });
});

test('it is used with the keyboard alone, and leads to titles and paths', async () => {
  await using opened = await openReference(desk);
  const { page, search, options } = opened;
  await page.keyboard.press('/');
  await page.keyboard.type('create a proxy');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#createProxy$/);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe('#createProxy');
  await page.keyboard.press('/');
  await page.keyboard.type('post /v2/tokens');
  expect(await options.first().textContent()).toContain('/v2/tokens/search');
  await search.fill('delete application');
  await options.nth(1).waitFor();
  const second = (await options.nth(1).textContent()) ?? '';
  await page.keyboard.press('ArrowDown');
  expect(await page.getByRole('option', { selected: true }).textContent()).toBe(second);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  expect(await page.getByRole('option', { selected: true }).textContent()).toBe(await options.last().textContent());
  await page.keyboard.press('Escape');
  expect({ text: await search.inputValue(), options: await options.count() }).toEqual({ text: '', options: 0 });
});

test('it leads to a member, also to one that is folded away', async () => {
  await using opened = await openReference(desk);
  const { page, search, options } = opened;
  await search.fill('allowed_paths');
  await options.filter({ hasText: 'in Create a Proxy' }).click();
  await page.waitForURL(/#createProxy$/);
  expect(await page.evaluate(() => document.activeElement?.querySelector('dt code')?.textContent)).toBe(
    'allowed_paths',
  );
  const folded = page.locator('#createReactorFormula details dt code', { hasText: 'optional' }).first();
  expect(await folded.isVisible()).toBe(false);
  await search.fill('optional create');
  await options.filter({ hasText: 'in Create a reactor formula' }).click();
  await folded.waitFor();
});

test('it says when nothing matches, and shows what is typed as text', async () => {
  await using opened = await openReference(desk);
  const { page, search, options } = opened;
  await search.fill('<b>nothing</b> like this');
  await page.getByRole('status').getByText('Nothing matches “<b>nothing</b> like this”').waitFor();
  expect(await options.count()).toBe(0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await opened.screenshot('docs-search-nothing');
  await search.fill('a');
  await page
    .getByRole('status')
    .getByText(/^The first 12 of \d+ results/)
    .waitFor();
});

test('nothing else takes a key, and each page of the reference leads back to the console', async () => {
  await using opened = await openReference(desk);
  const { page } = opened;
  expect(await page.locator('input, textarea, select, button, form, [contenteditable]').count()).toBe(1);
  for (const path of ['/docs', '/docs/errors']) {
    await page.goto(`${world.current.origin}${path}`);
    expect(await page.getByRole('link', { name: 'Console', exact: true }).getAttribute('href')).toBe('/');
  }
  expect(await findBarriers(page)).toEqual([]);
});

test('code that finds its way into the page may send nothing, and no text becomes markup', async () => {
  const { headers } = await fetch(`${world.current.origin.replace('console.localhost', '127.0.0.1')}/docs`);
  expect(headers.get('content-security-policy')).not.toContain('script-src');
  await using opened = await openReference(desk);
  const refused = await opened.page.evaluate(async () => {
    const attempts = [() => fetch('/openapi.json'), () => Object.assign(document.body, { innerHTML: '<b>x</b>' })];
    return Promise.all(
      attempts
        .map(async (attempt) => attempt())
        .map((one) =>
          one.then(
            () => false,
            () => true,
          ),
        ),
    );
  });
  expect(refused).toEqual([true, true]);
  await eventually('the violations', () => opened.seen.violations.length >= 2);
  opened.seen.violations.length = 0;
  opened.seen.errors.length = 0;
});
