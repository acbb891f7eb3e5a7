import { useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { choose, faultyFields, openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice } = platform;
  for (let at = 1; at <= 23; at++) {
    const name = at === 23 ? 'A checkout whose name is as long as somebody made it '.repeat(3).trim() : `Shop ${at}`;
    await sluice.applications.create({ name, type: 'public', permissions: ['token:create'] });
  }
  const made = await sluice.applications.create({
    name: 'Backend',
    type: 'private',
    permissions: ['token:read'],
    rules: [
      {
        priority: 1,
        container: '/pci/',
        transform: 'reveal',
        permissions: ['token:create', 'token:read', 'token:use'],
      },
      { priority: 2, container: '/general/', transform: 'redact', permissions: ['token:read'], description: 'Support' },
    ],
  });
  const backend = clientOf(platform.stack.baseUrl, made.key).sluice;
  const token = await backend.tokens.create({ type: 'card', data: { number: '4242424242424242' } });
  const proxy = await sluice.proxies.create({
    name: 'Payments',
    destination_url: 'https://api.payments.example',
    ...{ path_name: 'payments', allowed_methods: ['POST'], allowed_paths: ['/v1/charges'] },
  });
  await sluice.proxies.create({ name: 'Shipping', destination_url: 'https://shipping.example' });
  return { ...platform, backend: made, token, proxy };
});

test('the list has pages and a filter, and both stand in the address', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications', 'Applications');
  await page.getByText('1–20 of 25').waitFor();
  await opened.look('applications');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('21–25 of 25').waitFor();
  expect(new URL(page.url()).search).toBe('?page=2');
  await page.reload();
  await page.getByText('21–25 of 25').waitFor();
  await page.getByLabel('Type').selectOption('private');
  await page.getByText('1–1 of 1').waitFor();
  await page.getByRole('link', { name: 'Backend' }).click();
  await page.getByRole('heading', { name: 'Backend', level: 1 }).waitFor();
});

test('an Application is made of a template, and its key is shown once', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications/new', 'New Application');
  await page.getByRole('button', { name: /^proxy-caller/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Caller');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByLabel('Container').fill('/not a container/');
  await opened.look('application-new');
  opened.expectStatus(400);
  await page.getByRole('button', { name: 'Create Application' }).click();
  await page.getByText('Container must be names of letters, digits, _ and -').waitFor();
  expect(await faultyFields(page)).toEqual({ faulty: ['Container'], focused: 'Container', alerts: 0 });
  await opened.look('application-new-refused');
  await page.getByRole('button', { name: 'Remove rule 1' }).click();
  await page.getByRole('button', { name: 'Create Application' }).click();
  const dialog = page.getByRole('dialog', { name: 'The key of Caller' });
  const key = (await dialog.locator('pre').textContent()) ?? '';
  expect(key).toMatch(/^svc_\w+_prv_/);
  await opened.look('application-key');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Caller', level: 1 }).waitFor();
  expect(await page.content()).not.toContain(key);
});

test('rights are changed, keys are rotated, and each change shows its confirmation', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { backend } = world.current;
  await opened.goto(`/applications/${backend.id}`, 'Backend');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('token:search', { exact: false }).first().check();
  await opened.look('application-change');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Application Backend was changed').waitFor();
  await page.getByText(/^All \d+ running services apply the change/).waitFor();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('cell', { name: 'Key 2' }).waitFor();
  await page.getByRole('row', { name: /Key 1/ }).getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete key 1?' });
  await question.waitFor();
  await opened.look('application-delete-key');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Key 1 was deleted').waitFor();
  await page.getByRole('row', { name: /Key 2/ }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The last key cannot be deleted. Create another one first.').waitFor();
  await page.keyboard.press('Escape');
  await opened.look('application');
});

test('what a key would see of a token is explained, with the rule that decides', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { backend, token } = world.current;
  await opened.goto(`/applications/${backend.id}?token=${token.id}`, 'Backend');
  await page.getByText('Allowed: callers see the value').waitFor();
  await page.getByText('Decided by rule 1').waitFor();
  await page.getByLabel('Operation').selectOption('token:use');
  await page.getByText('Allowed: the destination gets the value', { exact: true }).waitFor();
  await opened.look('application-explain-use-allowed');
  await page.getByLabel('Operation').selectOption('token:delete');
  await page.getByText('Refused').waitFor();
  await opened.look('application-explain');
  expect(await page.content()).not.toContain('4242424242424242');
});

test('an Application is bound to Proxies, and its calls are explained', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications/new', 'New Application');
  await page.getByRole('button', { name: /^agent/ }).click();
  await page.getByLabel('Only certain Proxies').check();
  opened.expectStatus(400);
  await page.getByRole('button', { name: 'Create Application' }).click();
  await page.getByText('Proxies must not be empty.').waitFor();
  expect(await page.getByLabel('Only certain Proxies').evaluate((box) => box === document.activeElement)).toBe(true);
  await opened.look('application-proxies');
  await choose(page.getByRole('combobox', { name: 'Add a Proxy' }), 'Payments');
  await page.getByRole('button', { name: 'Create Application' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('link', { name: 'Payments' }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { proxy, sluice } = world.current;
  expect((await sluice.applications.get(id)).proxies).toEqual([proxy.id]);

  const explain = page.getByRole('region', { name: 'May this Application make a call?' });
  await choose(explain.getByLabel('Proxy', { exact: true }), 'Payments');
  await explain.getByLabel('Path').fill('/v1/charges/1');
  await explain.getByRole('button', { name: 'Explain the call' }).click();
  await explain.getByText('Allowed', { exact: true }).waitFor();
  await explain.getByLabel('Method').fill('DELETE');
  await explain.getByRole('button', { name: 'Explain the call' }).click();
  await explain.getByText('Decided by the allowed methods of the Proxy').waitFor();
  await opened.look('application-explain-call');
  await page.reload();
  await explain.getByText('Decided by the allowed methods of the Proxy').waitFor();
  await choose(explain.getByLabel('Proxy', { exact: true }), 'Shipping');
  await explain.getByRole('button', { name: 'Explain the call' }).click();
  await explain.getByText('Decided by the list of Proxies of the Application').waitFor();

  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Only certain Proxies').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Application agent was changed').waitFor();
  await page.getByText('every Proxy of the Tenant', { exact: true }).waitFor();
  expect(await sluice.applications.get(id)).not.toHaveProperty('proxies');
});

test('what an Application did is one click away', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { backend, token } = world.current;
  await opened.goto(`/applications/${backend.id}`, 'Backend');
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  expect(new URL(page.url()).searchParams.get('actor_id')).toBe(backend.id);
  await page.getByRole('link', { name: token.id }).first().waitFor();
});

test('an Application is deleted after a question', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications?page=2', 'Applications');
  await page.getByRole('link', { name: 'Shop 1', exact: true }).click();
  await page.getByRole('button', { name: 'Delete' }).first().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The Application Shop 1 was deleted').waitFor();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
});
