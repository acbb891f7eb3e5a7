import { useStack } from '@sluice/testing';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice } = platform;
  const application = await sluice.applications.create({
    name: 'Code',
    type: 'private',
    permissions: ['token:create'],
  });
  const proxy = await sluice.proxies.create({
    name: 'Payments',
    destination_url: 'https://api.payments.example/v1/charges',
    application: { id: application.id },
    configuration: { PAYMENTS_KEY: 'secret-of-payments' },
    request_transform: { code: 'module.exports = async (req) => ({ body: req.args.body });\n' },
  });
  await sluice.proxies.patch(proxy.id, {
    request_transform: {
      code: "module.exports = async (req) => {\n  // Adds the key of the destination\n  const headers = { ...req.args.headers, authorization: 'Bearer ' + req.configuration.PAYMENTS_KEY };\n  return { body: req.args.body, headers };\n};\n",
    },
  });
  await sluice.proxies.create({ name: 'Open', destination_url: 'https://hooks.example/in', require_auth: false });
  return { ...platform, application, proxy };
});

test('the list is searched by name, and a Proxy is made', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/proxies', 'Proxies');
  await page.getByText('https://api.payments.example/v1/charges').waitFor();
  await opened.look('proxies');
  await page.getByLabel('Name').fill('pay*');
  await page.keyboard.press('Enter');
  await page.getByText('1–1 of 1').waitFor();
  expect(new URL(page.url()).searchParams.get('name')).toBe('pay*');
  await page.getByRole('link', { name: 'New Proxy' }).click();
  await page.getByRole('heading', { name: 'New Proxy' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Shipping');
  await page.getByLabel('Destination URL').fill('ftp://shipping.example');
  await page.getByRole('button', { name: 'Add a value' }).click();
  await page.getByLabel('Name 1').fill('TOKEN');
  await page.getByRole('textbox', { name: 'Value 1' }).fill('value-of-shipping');
  opened.expectStatus(400);
  await page.getByRole('button', { name: 'Make the Proxy' }).click();
  await page.getByRole('alert').waitFor();
  await opened.look('proxy-new');
  await page.getByLabel('Destination URL').fill('https://shipping.example/v1');
  await page.getByRole('button', { name: 'Make the Proxy' }).click();
  await page.getByRole('heading', { name: 'Shipping', level: 1 }).waitFor();
  await page.getByText('TOKEN', { exact: true }).waitFor();
});

test('a Proxy shows its settings and calls to copy, and is changed', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { proxy } = world.current;
  await opened.goto(`/proxies/${proxy.id}`, 'Payments');
  await page.getByText(`SVC-PROXY-KEY: ${proxy.key}`).waitFor();
  await opened.look('proxy');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Destination URL').fill('https://api.payments.example/v2');
  await page.getByRole('button', { name: 'Remove value 1' }).click();
  await opened.look('proxy-change');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Proxy Payments was changed').waitFor();
  const { destination_url, configuration, application_id } = await world.current.sluice.proxies.get(proxy.id);
  expect({ destination_url, configuration: configuration ?? {}, application_id }).toEqual({
    destination_url: 'https://api.payments.example/v2',
    configuration: {},
    application_id: world.current.application.id,
  });
});

test('code is completed, tried in the sandbox, and saved', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { proxy } = world.current;
  await opened.goto(`/proxies/${proxy.id}`, 'Payments');
  await page.getByRole('link', { name: 'Request transform' }).click();
  const editor = page.getByRole('textbox', { name: 'Code of the request transform' });
  await editor.fill('module.exports = async (req) => {\nconst x = req.svc.');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('tok');
  await page.getByRole('option', { name: 'tokenize', exact: true }).waitFor();
  await opened.look('proxy-completion');
  await page.keyboard.press('Escape');
  await editor.fill(
    "module.exports = async (req) => {\nconsole.log('seen', req.args.body.amount);\nreturn { body: { doubled: req.args.body.amount * 2 } };\n};",
  );
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('"doubled": 8400').waitFor();
  await page.getByText('seen 4200').waitFor();
  await opened.look('proxy-test-run');
  await editor.fill('module.exports = async (req) => {\nthrow new TypeError("no such card");\n};');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('failed with 500').waitFor();
  await opened.look('proxy-test-failed');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The request transform of Payments was saved').waitFor();
  const { request_transform } = await world.current.sluice.proxies.get(proxy.id);
  expect(request_transform?.code).toContain('no such card');
});

test('versions are compared, and one is restored', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { proxy } = world.current;
  await opened.goto(`/proxies/${proxy.id}/versions`, 'Payments');
  await page.getByRole('link', { name: 'Compare version 1' }).click();
  await page.getByText('({ body: req.args.body })').waitFor();
  await opened.look('proxy-versions');
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByText('Payments is as in version 1 again').waitFor();
  const { request_transform } = await world.current.sluice.proxies.get(proxy.id);
  expect(request_transform?.code).toContain('({ body: req.args.body })');
});
