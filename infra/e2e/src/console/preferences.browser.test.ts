import { eventuallyEqual, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const application = await platform.sluice.applications.create({
    name: 'Shop',
    type: 'private',
    permissions: ['token:use'],
  });
  return { ...platform, application };
});

const kept = (page: Page) => page.evaluate(() => ({ ...localStorage }));

/** What the page looks like, and what the browser was told to draw its own controls in. */
const look = (page: Page) =>
  page.evaluate(() => {
    const { backgroundColor } = getComputedStyle(document.body);
    const light = Number(/\d+/.exec(backgroundColor)?.[0]) > 128;
    return [light ? 'light' : 'dark', getComputedStyle(document.documentElement).colorScheme];
  });

const choose = async (page: Page, name: string) => {
  await page.getByRole('button', { name: /account/ }).click();
  await page.getByRole('radio', { name, exact: true }).check({ force: true });
  await page.keyboard.press('Escape');
};

test('the theme that somebody chooses is there before the first paint, in every tab, and goes again', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  expect(await look(page)).toEqual(['light', 'light dark']);
  await page.getByRole('button', { name: /account/ }).click();
  await opened.look('preferences');
  await page.keyboard.press('Escape');
  await choose(page, 'Dark');
  expect(await look(page)).toEqual(['dark', 'dark']);
  expect(await kept(page)).toEqual({ theme: 'dark' });

  // Without its modules the page has painted all that it will.
  await page.route(/\/assets\/index-.*\.js$/, (route) => route.abort());
  await page.reload();
  expect(await look(page)).toEqual(['dark', 'dark']);
  await page.unroute(/\/assets\/index-.*\.js$/);
  opened.seen.errors.length = 0;

  await page.goto(world.current.consoleUrl);
  const other = await page.context().newPage();
  await other.goto(world.current.consoleUrl);
  await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await choose(page, 'System');
  await eventuallyEqual(() => look(other), ['light', 'light dark']);
  expect(await kept(page)).toEqual({});
});

test('moments are relative, exact on demand, and in UTC everywhere if somebody chooses that', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { application } = world.current;
  const at = application.created_at ?? '';
  await opened.goto(`/applications/${application.id}`, 'Shop');
  const time = page.locator(`time[datetime="${at}"]`).first();
  expect(await time.textContent()).toMatch(/^(just now|\d+ (second|minute)s? ago)$/);
  const exact = (zone?: string) =>
    page.evaluate(
      ([moment = '', timeZone]) =>
        new Intl.DateTimeFormat(undefined, {
          ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
          ...{ timeZoneName: 'short', hourCycle: 'h23', ...(timeZone && { timeZone }) },
        }).format(new Date(moment)),
      [at, zone] as const,
    );
  await time.hover();
  await page.getByText(await exact(), { exact: true }).waitFor();
  await opened.screenshot('exact-time');
  await choose(page, 'UTC');
  expect(await kept(page)).toEqual({ zone: 'utc' });
  await time.focus();
  await page.getByText(await exact('UTC'), { exact: true }).waitFor();
  expect(await time.getAttribute('aria-description')).toBe(await exact('UTC'));

  await opened.goto('/audit', 'Audit');
  await page.getByRole('cell', { name: 'Application created' }).waitFor();
  expect(await page.locator('td time').count()).toBeGreaterThan(0);
  expect(await page.locator('td time[tabindex]').count()).toBe(0);
  await page.getByLabel('From', { exact: true }).fill('2026-01-02T03:04');
  await page.waitForURL(/start_date=%222026-01-02T03%3A04%3A00.000Z%22|start_date=2026-01-02T03%3A04%3A00.000Z/);
  await choose(page, 'Local');
});

test.each(['/sign-in', '/sign-out', '/docs', '/docs/errors'])('the chosen theme is that of %s, too', async (path) => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await choose(page, 'Dark');
  await page.goto(`${world.current.consoleUrl}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await look(page)).toEqual(['dark', 'dark']);
  expect(opened.seen.violations).toEqual([]);
  await page.goto(world.current.consoleUrl);
  await choose(page, 'System');
});

test('anything else that is kept counts as nothing', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await page.evaluate(() => {
    localStorage.setItem('theme', 'dark"><b>');
    localStorage.setItem('zone', 'constructor');
  });
  await page.reload();
  await page.getByRole('button', { name: /account/ }).click();
  expect(await page.getByRole('radio', { name: 'System' }).isChecked()).toBe(true);
  expect(await page.getByRole('radio', { name: 'Local' }).isChecked()).toBe(true);
  expect(await look(page)).toEqual(['light', 'light dark']);
  await page.evaluate(() => localStorage.clear());
});

test('a browser that forbids storage shows the console, and a choice lasts as long as the page', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'localStorage', {
      get() {
        throw new DOMException('The user forbids it', 'SecurityError');
      },
    });
  });
  await opened.goto('/applications', 'Applications');
  await choose(page, 'Dark');
  expect(await look(page)).toEqual(['dark', 'dark']);
  await page.reload();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  expect(await look(page)).toEqual(['light', 'light dark']);
});
