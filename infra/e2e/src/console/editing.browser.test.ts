import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { faultyFields, openConsole, type SignedIn, signIn, signInLink } from './open-console.ts';

const world = useStack(openConsole);

async function createProxy(part: object = {}) {
  const name = `P${randomUUID().slice(0, 8)}`;
  const configuration = { API_KEY: 'value-of-api-key' };
  const body = { name, destination_url: 'https://api.example/v1', configuration, ...part };
  return world.current.sluice.proxies.create(body);
}

const destinationOf = async (id: string) => (await world.current.sluice.proxies.get(id)).destination_url;

async function editDestination({ page, goto }: SignedIn, { id, name }: { id: string; name: string }, url: string) {
  await goto(`/proxies/${id}`, name);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Destination URL').fill(url);
}

describe('two people edit one Proxy', () => {
  async function conflict(opened: SignedIn) {
    const proxy = await createProxy();
    await editDestination(opened, proxy, 'https://api.example/mine');
    const configuration = { API_KEY: 'another-value', NEW: 'new-value' };
    await world.current.sluice.proxies.patch(proxy.id, {
      destination_url: 'https://api.example/theirs',
      configuration,
    });
    opened.expectStatus(412);
    await opened.page.getByRole('button', { name: 'Save' }).click();
    await opened.page.getByText('Somebody else has changed the Proxy since you opened it').waitFor();
    await opened.page.getByText('https://api.example/theirs').first().waitFor();
    return proxy;
  }

  test('the second sees what the first changed, no secret, and nothing is saved; then takes it', async () => {
    await using opened = await signIn(world.current);
    const { id } = await conflict(opened);
    const { page } = opened;
    await page.getByText('[hidden], changed').waitFor();
    const shown = (await page.getByRole('alert').textContent()) ?? '';
    expect(shown).not.toMatch(/value-of-api-key|another-value|new-value/);
    expect(await destinationOf(id)).toBe('https://api.example/theirs');
    await opened.look('editing-conflict');
    await page.getByRole('button', { name: 'Discard my changes' }).click();
    expect(await page.getByLabel('Destination URL').inputValue()).toBe('https://api.example/theirs');
  });

  test('or saves over it', async () => {
    await using opened = await signIn(world.current);
    const { id, name } = await conflict(opened);
    await opened.page.getByRole('button', { name: 'Overwrite with my changes' }).click();
    await opened.page.getByText(`The Proxy ${name} was changed`).waitFor();
    expect(await destinationOf(id)).toBe('https://api.example/mine');
  });

  test('a change of other members does not stop the second', async () => {
    await using opened = await signIn(world.current);
    const proxy = await createProxy();
    await editDestination(opened, proxy, 'https://api.example/mine');
    const code = 'module.exports = async (req) => ({ body: req.args.body });';
    await world.current.sluice.proxies.patch(proxy.id, { request_transform: { code } });
    opened.expectStatus(412);
    await opened.page.getByRole('button', { name: 'Save' }).click();
    await opened.page.getByText(`The Proxy ${proxy.name} was changed`).waitFor();
    const saved = await world.current.sluice.proxies.get(proxy.id);
    expect([saved.destination_url, saved.request_transform?.code]).toEqual(['https://api.example/mine', code]);
  });
});

test('leaving an editor asks first; what was saved may be left', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const proxy = await createProxy();
  await editDestination(opened, proxy, 'https://api.example/v2');
  const leave = () => page.getByRole('link', { name: 'Overview' }).first().click();
  await leave();
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await question.waitFor();
  await opened.look('editing-leave');
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await page.getByLabel('Destination URL').inputValue()).toBe('https://api.example/v2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`The Proxy ${proxy.name} was changed`).waitFor();
  await leave();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await editDestination(opened, proxy, 'https://api.example/v3');
  await leave();
  await question.getByRole('button', { name: 'Leave without saving' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await destinationOf(proxy.id)).toBe('https://api.example/v2');
});

test('a sign-in that ends under a form: what was typed stays, and is sent after signing in in another tab', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const proxy = await createProxy();
  await editDestination(opened, proxy, 'https://api.example/v2');
  await page.context().clearCookies();
  opened.expectStatus(401);
  await page.getByRole('button', { name: 'Save' }).click();
  const ended = page.getByRole('alertdialog', { name: 'Your sign-in has ended' });
  await ended.waitFor();
  await opened.look('editing-signed-out');
  const tab = await page.context().newPage();
  await tab.goto(await signInLink(world.current));
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
  await ended.waitFor({ state: 'detached' });
  await page.getByText(`The Proxy ${proxy.name} was changed`).waitFor();
  expect(await destinationOf(proxy.id)).toBe('https://api.example/v2');
  await tab.close();
});

test('if somebody else signs in meanwhile, the form is told and nothing is sent', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const proxy = await createProxy();
  await editDestination(opened, proxy, 'https://api.example/v2');
  await page.context().clearCookies();
  opened.expectStatus(401);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alertdialog', { name: 'Your sign-in has ended' }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${world.current.consoleUrl}/sign-in`);
  await tab.getByLabel(/key/i).fill(world.current.stack.credentials.management_key);
  await tab.getByRole('button', { name: 'Sign in with the key' }).click();
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('alertdialog', { name: 'You signed in as another person' }).waitFor();
  await opened.look('editing-somebody-else');
  expect(await destinationOf(proxy.id)).toBe('https://api.example/v1');
  await tab.close();
});

test('a key that is shown once is closed by its button alone', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { id, name } = await world.current.sluice.applications.create({
    ...{ name: 'Shown once', type: 'private', permissions: ['token:read'] },
  });
  await opened.goto(`/applications/${id}`, name);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'A key of Shown once' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await dialog.locator('pre').textContent()).toMatch(/^svc_/);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('what is in use is deleted by its name only, and its Proxy says that it is gone', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { id, name } = await world.current.sluice.applications.create({
    ...{ name: 'In use', type: 'private', permissions: ['token:read'] },
  });
  const proxy = await createProxy({ application: { id } });
  await opened.goto(`/applications/${id}`, name);
  await page.getByRole('heading', { name: 'Used by' }).waitFor();
  await opened.look('application-in-use');
  await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
  const question = page.getByRole('alertdialog');
  await question.getByText('The code of 1 Proxy has the permissions of this Application').waitFor();
  const act = question.getByRole('button', { name: 'Delete' });
  expect(await act.isDisabled()).toBe(true);
  await question.getByLabel('Type the name').fill(name);
  await opened.look('application-delete-in-use');
  await act.click();
  await page.getByText('The Application In use was deleted').waitFor();
  await opened.goto(`/proxies/${proxy.id}`, proxy.name);
  await page
    .getByText(
      'Until you choose another Application, code has no req.svc, and tokens in the headers of this Proxy are not revealed.',
    )
    .waitFor();
  await opened.look('proxy-application-deleted');
  await opened.goto('/proxies', 'Proxies');
  await page.getByText('Application deleted').first().waitFor();
});

test('a browser without network says so', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/proxies', 'Proxies');
  await page.context().setOffline(true);
  await page.getByText('Your browser is offline').waitFor();
  await page.context().setOffline(false);
  await page.getByText('Your browser is offline').waitFor({ state: 'detached' });
});

test('the editor marks mistakes, saves and runs by keys, and Tab leads from it to Save', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const proxy = await createProxy();
  await opened.goto(`/proxies/${proxy.id}/request`, proxy.name);
  const editor = page.getByRole('textbox', { name: 'Code of the request transform' });
  const isFocused = (name: 'Save' | 'Run') =>
    page.getByRole('button', { name, exact: true }).evaluate((button) => button === document.activeElement);
  await editor.fill('module.exports = async (req) => {\n  const body = ;\n  return { body };\n};');
  await page.locator('.cm-lintRange-error').waitFor();
  opened.expectStatus(422);
  await editor.press('Control+s');
  await page.getByText(/\(line 2, column 16\)\.$/).waitFor();
  expect(await editor.evaluate((box) => box.matches(':focus') && box.getAttribute('aria-invalid'))).toBe('true');
  expect(await page.getByText(/request_transform/).count()).toBe(0);
  await opened.look('editing-syntax');

  await editor.fill('module.exports = async (req) => ({ body: { doubled: req.args.body.amount * 2 } });');
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  await editor.press('Control+Enter');
  await page.getByText('"doubled": 8400').waitFor();
  expect(await editor.textContent()).not.toContain('\n'); // the editor took no blank line from it
  await editor.press('Control+s');
  await page.getByText(`The request transform of ${proxy.name} was saved`).waitFor();
  expect((await world.current.sluice.proxies.get(proxy.id)).request_transform?.code).toContain('doubled');
  await editor.press('Tab');
  expect(await isFocused('Save')).toBe(true);
});

test('Ctrl+S saves a form from wherever the focus is, but nothing behind a dialog, and nothing unchanged', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const proxy = await createProxy();
  let patches = 0;
  page.on('request', (request) => {
    if (request.method() === 'PATCH') patches += 1;
  });
  await editDestination(opened, proxy, 'https://api.example/v1');
  expect(await page.getByRole('button', { name: 'Save' }).getAttribute('title')).toBe('Ctrl+S');
  await page.keyboard.press('Control+s');
  await page.getByLabel('Destination URL').fill('https://api.example/v2');
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog');
  await question.waitFor();
  await page.keyboard.press('Control+s');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect([patches, await destinationOf(proxy.id)]).toEqual([0, 'https://api.example/v1']);
  await page.getByRole('button', { name: 'Delete' }).focus();
  await page.keyboard.press('Control+s');
  await page.getByText(`The Proxy ${proxy.name} was changed`).waitFor();
  expect([patches, await destinationOf(proxy.id)]).toEqual([1, 'https://api.example/v2']);
});

test('a name that another Proxy has is shown at its field; what no field sets is shown above the button, its trace id behind Details', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const first = await createProxy({ path_name: `r${randomUUID().slice(0, 8)}` });
  const second = await createProxy();
  await opened.goto(`/proxies/${second.id}`, second.name);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByText('Route, methods and paths').click();
  await page.getByLabel('Name of the route').fill(first.path_name ?? '');
  opened.expectStatus(409);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Name of the route is ${first.path_name}, which another Proxy has already.`).waitFor();
  const name = 'Name of the route';
  expect(await faultyFields(page)).toEqual({ faulty: [name], focused: name, alerts: 0 });

  await world.current.sluice.proxies.delete(second.id);
  opened.expectStatus(404);
  await page.getByRole('button', { name: 'Save' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.getByText('Trace id').count()).toBe(0);
  await alert.getByText('Details').click();
  await alert.getByText('Trace id').waitFor();
  await alert.getByText('not_found', { exact: true }).waitFor();
  await alert.getByRole('button', { name: 'Copy the details' }).waitFor();
  await opened.look('editing-details');
});

test('a name of 200 characters without a blank breaks no page and no dialog', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice } = world.current;
  const name = `Wide${'W'.repeat(196)}`;
  const proxy = await sluice.proxies.create({ name, destination_url: `https://${'w'.repeat(60)}.example/${name}` });
  const application = await sluice.applications.create({
    ...{ name, type: 'private', proxies: [proxy.id] },
    rules: [{ priority: 1, container: `/${name}/`, transform: 'mask', permissions: ['token:use'], description: name }],
  });
  const code = 'module.exports = async () => ({ raw: 1 });';
  const formula = await sluice.reactorFormulas.create({ name, code, description: name });
  const reactor = await sluice.reactors.create({ name, formula: { id: formula.id } });
  for (const [at, path] of [
    ['proxy', `/proxies/${proxy.id}`],
    ['proxy-versions', `/proxies/${proxy.id}/versions`],
    ['application', `/applications/${application.id}`],
    ['formula', `/reactors/formulas/${formula.id}`],
    ['reactor', `/reactors/${reactor.id}`],
  ] as const) {
    await opened.goto(path, name);
    await page.waitForLoadState('networkidle');
    await opened.look(`wide-${at}`);
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
    await page.getByRole('alertdialog').waitFor();
    await opened.look(`wide-${at}-delete`);
    await page.keyboard.press('Escape');
  }
  await opened.goto(`/applications/${application.id}`, name);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Container').waitFor();
  await opened.look('wide-application-change');
});
