import { queryOnce, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const made = await platform.sluice.applications.create({
    name: 'Backend',
    type: 'private',
    permissions: ['token:read'],
  });
  return { ...platform, backend: made };
});

const hour = 3_600_000;

/** As processes note it, without waiting for a minute or for days. */
async function noteUse(version: number, hoursAgo: number): Promise<void> {
  const { backend, stack } = world.current;
  const at = new Date(Math.floor(Date.now() / hour - hoursAgo) * hour).toISOString();
  await queryOnce(
    stack.databaseUrl,
    `insert into key_uses (tenant_id, application_id, key_id, last_used_at)
    select tenant_id, application_id, id, $3 from application_keys where application_id = $1 and version = $2
    on conflict (tenant_id, application_id, key_id) do update set last_used_at = excluded.last_used_at`,
    [backend.id, version, at],
  );
}

test('a key is replaced by what “last used” says', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { backend, sluice, stack } = world.current;
  // As a former version made it.
  await queryOnce(stack.databaseUrl, 'update application_keys set last_four = null where application_id = $1', [
    backend.id,
  ]);
  await opened.goto(`/applications/${backend.id}`, 'Backend');
  const row = (name: RegExp) => page.getByRole('row', { name });
  await row(/Key 1/).getByText('no use recorded').waitFor();
  await row(/Key 1/).getByText('by Management').waitFor();
  expect(await row(/Key 1/).getByText('before its last six characters').count()).toBe(0);

  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key for Backend' });
  await form.getByLabel('Name').fill('Frankfurt\u202e');
  await form.getByLabel('Expires').selectOption('In 90 days');
  opened.expectStatus(400);
  await form.getByRole('button', { name: 'Create key' }).click();
  await form.getByText('Name must not have control, invisible or direction characters.', { exact: true }).waitFor();
  await opened.look('key-new-refused');
  await form.getByLabel('Name').fill('Backend in Frankfurt');
  await form.getByLabel('Expires').selectOption('At a chosen time');
  await form.getByLabel('Expiry time').fill('2999-01-02T03:04');
  await opened.look('key-new');
  await form.getByRole('button', { name: 'Create key' }).click();
  const secret = page.getByRole('dialog', { name: 'A key of Backend' });
  const key = (await secret.locator('pre').textContent()) ?? '';
  await opened.look('key-shown');
  await secret.getByRole('button', { name: 'I have copied it' }).click();

  const added = row(/Backend in Frankfurt/);
  await added.getByText(key.slice(-10, -6)).waitFor();
  await added.getByText('before its last six characters').waitFor();
  await added.getByText('Owner').or(added.getByText('owner@localhost')).waitFor();
  await added.getByText(/2999/).waitFor();
  await added.getByText('never', { exact: true }).waitFor();
  expect(await page.content()).not.toContain(key.slice(-6));

  await clientOf(stack.baseUrl, key).sluice.permissions.list().toArray();
  await noteUse(2, 0);
  await noteUse(1, 26);
  await page.reload();
  await added.getByText(/this hour|1 hour ago/).waitFor();
  await row(/Key 1/)
    .getByText(/2[67] hours ago/)
    .waitFor();
  await opened.look('keys');

  await added.getByRole('button', { name: 'Delete' }).click();
  const warned = page.getByRole('alertdialog', { name: 'Delete the key Backend in Frankfurt?' });
  await warned.getByText(/It was last used (this hour|1 hour ago)\./).waitFor();
  await opened.look('key-delete-in-use');
  await warned.getByRole('button', { name: 'Cancel' }).click();
  await row(/Key 1/).getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete key 1?' });
  await question.getByText(/It was last used 2[67] hours ago\./).waitFor();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Key 1 was deleted').waitFor();
  const [left, ...others] = await sluice.applications.keys.list(backend.id).toArray();
  expect([left?.name, left?.last_four, others]).toEqual(['Backend in Frankfurt', key.slice(-10, -6), []]);
});
