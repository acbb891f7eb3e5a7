import { eventually, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice } = platform;
  const shop = await sluice.applications.create({
    name: 'Backend of the shop',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:create', 'token:read'] }],
  });
  const key = await sluice.applications.keys.create(shop.id, { name: 'Blue key' });
  await sluice.applications.keys.delete(shop.id, key.id);
  const unnamed = await sluice.applications.keys.create(shop.id, {});
  await sluice.applications.keys.delete(shop.id, unnamed.id);
  const proxy = await sluice.proxies.create({ name: 'Payments', destination_url: 'https://api.example.com' });
  await sluice.proxies.patch(proxy.id, { name: 'Checkout' });
  const gone = await sluice.proxies.create({ name: 'Old payments', destination_url: 'https://api.example.com' });
  await sluice.proxies.delete(gone.id);
  const leaver = await sluice.applications.create({
    name: 'Nightly job',
    type: 'private',
    permissions: ['token:create'],
  });
  const { tokens } = clientOf(platform.stack.baseUrl, leaver.key).sluice;
  const token = await tokens.create({ type: 'token', data: 'a value' });
  await sluice.applications.delete(leaver.id);
  const formula = await sluice.reactorFormulas.create({ name: 'Score', code: 'module.exports = async () => ({})' });
  await sluice.reactors.create({ name: 'Fraud score', formula: { id: formula.id } });
  await sluice.invitations.create({ email: 'ada@example.com', role: 'AUDITOR' });
  await eventually('the log is written', async () => {
    const { data } = await sluice.logs.list({ token_id: token.id }).page();
    return data.length === 1;
  });
  return { ...platform, shop, proxy, gone, leaver, token };
});

test('each row says what happened, to what and by whom, by name, also if it is gone', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { proxy, gone, leaver } = world.current;
  await opened.goto('/audit', 'Audit');
  const row = (event: string, resource: string) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: event, exact: true }) })
      .filter({ hasText: resource });
  await row('Key removed', 'Backend of the shop Blue key').waitFor();
  await row('Key added', 'Backend of the shop Blue key').waitFor();
  await row('Key removed', 'Backend of the shop Key 3').waitFor();
  await row('Proxy deleted', 'Old payments').waitFor();
  await row('Proxy updated', 'Checkout').waitFor();
  await row('Application deleted', 'Nightly job').waitFor();
  const actor = row('Token created', 'Nightly job').getByRole('cell').nth(2).getByRole('link');
  expect(await actor.getAttribute('title')).toBe(leaver.id);
  await row('Signed in', '(you)').first().waitFor();
  await opened.look('audit-names');
  await row('Proxy deleted', 'Old payments').getByRole('link', { name: 'Proxy deleted' }).click();
  await page.getByRole('heading', { name: 'Proxy deleted' }).waitFor();
  await page.getByRole('definition').filter({ hasText: 'Old payments' }).filter({ hasText: gone.id }).waitFor();
  const proven = page.getByRole('group', { name: 'the row' });
  expect(await proven.textContent()).toContain(gone.id);
  expect(await proven.textContent()).not.toContain('Old payments');
  await opened.look('audit-names-row');
  await opened.goto(`/proxies/${proxy.id}/versions`, 'Checkout');
  await page.getByRole('cell', { name: 'Management' }).first().waitFor();
  await opened.look('proxy-versions-who');
});

test('the log is filtered by who and what, found by name, and each filter is cleared alone or with all others', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { shop, gone } = world.current;
  await opened.goto('/audit', 'Audit');
  const rows = () => page.getByRole('row').count();
  await eventually('all rows', async () => (await rows()) > 10);
  const resource = page.getByRole('combobox', { name: 'Resource', exact: true });
  await resource.fill('of the sh');
  await page.getByRole('option', { name: 'Backend of the shop Application' }).waitFor();
  await opened.screenshot('audit-filter-open'); // the library hides the rest of the page from axe while it is open
  await page.getByRole('option', { name: 'Backend of the shop Application' }).click();
  await page.waitForURL(`**/audit?entity_id=${shop.id}`);
  await eventually('its five rows and the heading', async () => (await rows()) === 6);
  expect(await resource.inputValue()).toBe('Backend of the shop');
  const actor = page.getByRole('combobox', { name: 'Actor', exact: true });
  await actor.fill('owner@');
  await page.getByRole('option', { name: 'owner@localhost Member' }).click();
  await page.getByText('No row of the log matches').waitFor();
  await page.getByRole('button', { name: 'Clear Actor' }).click();
  await page.waitForURL(`**/audit?entity_id=${shop.id}`);
  await eventually('its five rows again', async () => (await rows()) === 6);
  await opened.look('audit-filtered');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await eventually('all rows again', async () => (await rows()) > 10);
  await resource.fill(gone.id);
  await page.getByRole('option', { name: gone.id }).click();
  await eventually('two rows of what is gone', async () => (await rows()) === 3);
  await eventually('its name', async () => (await resource.inputValue()) === 'Old payments');
  await page.reload();
  await eventually('its name from the address', async () => (await resource.inputValue()) === 'Old payments');
});
