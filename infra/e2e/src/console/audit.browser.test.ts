import { eventually, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const value = '4242424242424242';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice } = platform;
  const backend = await sluice.applications.create({
    name: 'Backend of the shop',
    type: 'private',
    rules: [{ priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:create', 'token:read'] }],
  });
  const { tokens } = clientOf(platform.stack.baseUrl, backend.key).sluice;
  const token = await tokens.create({ type: 'card', data: { number: value }, metadata: { customer: 'c-1042' } });
  for (let at = 0; at < 60; at++) await tokens.get(token.id, { traceId: `trace-${at}` });
  const seen = async () => (await sluice.logs.list({ token_id: token.id, size: 1 }).page()).pagination.total_items;
  await eventually('the log is written', async () => (await seen()) === 61);
  return { ...platform, backend, token };
});

test('the log has filters in the address and pages by cursor', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { token, backend } = world.current;
  await opened.goto('/audit', 'Audit');
  await page.getByRole('cell', { name: 'Backend of the shop' }).first().waitFor();
  await opened.look('audit');
  await page.getByRole('combobox', { name: 'Operation' }).selectOption('read');
  await page.getByRole('textbox', { name: 'Token', exact: true }).fill(token.id);
  await page.keyboard.press('Enter');
  await eventually('both are in the address', () => page.url().includes(token.id) && page.url().includes('read'));
  await page.getByRole('button', { name: 'Next' }).click();
  await eventually('the last page', async () => (await page.getByRole('row').count()) === 11);
  const second = page.url();
  await page.goto(second);
  await eventually('the same page again', async () => (await page.getByRole('row').count()) === 11);
  await page.getByRole('button', { name: 'First page' }).click();
  await eventually('the first page', async () => (await page.getByRole('row').count()) === 51);
  await page.goto(`${world.current.consoleUrl}/audit?trace_id=trace-7&actor_id=${backend.id}`);
  await eventually('one row', async () => (await page.getByRole('row').count()) === 2);
  opened.expectStatus(400);
  await page.goto(`${world.current.consoleUrl}/audit?actor_id=nobody`);
  await page.getByText(/^Actor id must/).waitFor();
  await page.goto(`${world.current.consoleUrl}/audit?trace_id=none`);
  await page.getByText('No row of the log matches').waitFor();
  await opened.look('audit-empty');
});

test('a row is proven in the page, and one that was changed in the database is not', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/audit?trace_id=trace-3', 'Audit');
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Row of the audit log', level: 1 }).waitFor();
  await page.getByText(/^Proven: this is row \d+ of the \d+ that are signed$/).waitFor();
  await opened.look('audit-row');
  expect(await page.content()).not.toContain(value);
  const { query, stack } = world.current;
  const setMessage = (message: string) =>
    query(`update audit_log set message = $1 where tenant_id = $2 and trace_id = 'trace-3'`, [
      message,
      stack.credentials.tenant_id,
    ]);
  await setMessage('Token seen');
  await page.reload();
  await page.getByText('Not proven: do not trust this row').waitFor();
  await opened.look('audit-row-changed');
  await setMessage('Token read'); // other files use this ledger
});

test('an address that names no row says so', async () => {
  await using opened = await signIn(world.current);
  await opened.goto('/audit/00000000-0000-4000-8000-000000000000', 'Row of the audit log');
  await opened.page.getByText('This row does not exist').waitFor();
  await opened.look('audit-row-none');
});

test('the newest checkpoint is shown, and its signature checked', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/audit', 'Audit');
  await page.getByRole('link', { name: 'Checkpoint' }).click();
  await page.getByText(/^Signed: the ledger has \d+ rows$/).waitFor();
  await opened.look('audit-checkpoint');
});

test('the export is saved, with the filters of the page', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/audit?trace_id=trace-5', 'Audit');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('audit-log.ndjson');
  const lines = (await (await download.createReadStream()).toArray()).join('').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).trace_id)).toEqual(['trace-5']);
});
