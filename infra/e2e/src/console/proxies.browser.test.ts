import { useStack } from '@sluice/testing';
import { faultyFields, openConsole, signIn } from './open-console.ts';

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
  await page.getByRole('button', { name: 'Create Proxy' }).click();
  await page.getByText('Destination URL has the scheme ftp, but this installation allows only http, https.').waitFor();
  const url = 'Destination URL';
  expect(await faultyFields(page)).toEqual({ faulty: [url], focused: url, alerts: 0 });
  await opened.look('proxy-new');
  await page.getByLabel('Destination URL').fill('https://shipping.example/v1');
  await page.getByRole('button', { name: 'Create Proxy' }).click();
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
  await page.getByText('Headers, places of tokens, and time limit').click();
  await page.getByRole('button', { name: 'Add a header' }).click();
  await page.getByLabel('Header 1', { exact: true }).fill('Authorization');
  await page.getByLabel('Header text 1', { exact: true }).fill('Bearer of-payments');
  await page.getByLabel('Query').check();
  await page.getByLabel('Headers', { exact: true }).fill('x-card, x-account');
  await page.getByLabel('Time limit of a response').fill('60');
  await opened.look('proxy-change');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Proxy Payments was changed').waitFor();
  await page.getByText('body, query, header:x-card, header:x-account').waitFor();
  const { destination_url, configuration, application_id, ...changed } = await world.current.sluice.proxies.get(
    proxy.id,
  );
  expect(changed).toMatchObject({
    request_headers: { Authorization: 'Bearer of-payments' },
    token_places: ['body', 'query', 'header:x-card', 'header:x-account'],
    head_timeout_s: 60,
  });
  expect({ destination_url, configuration: configuration ?? {}, application_id }).toEqual({
    destination_url: 'https://api.payments.example/v2',
    configuration: {},
    application_id: world.current.application.id,
  });
});

test('a Proxy gets a route, which shows its callers and the lines for each client', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack } = world.current;
  const { id } = await sluice.proxies.create({ name: 'Models', destination_url: 'https://api.models.example' });
  const use = { type: 'private' as const, permissions: ['token:use' as const] };
  await sluice.applications.create({ ...use, name: 'Agent of models', proxies: [id] });
  await sluice.applications.create({ ...use, name: 'Calls all' });
  const other = await sluice.proxies.create({ name: 'Other', destination_url: 'https://other.example' });
  await sluice.applications.create({ ...use, name: 'Calls another', proxies: [other.id] });
  await opened.goto(`/proxies/${id}`, 'Models');
  await page.getByText('With a route, more clients can call the Proxy').waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByText('Route, methods and paths').click();
  await page.getByLabel('Name of the route').fill('Models!');
  await page.getByLabel('Authorization: Bearer').check();
  await page.getByLabel('Allowed methods').fill('GET, no method');
  await page.getByLabel('Allowed paths').fill('/v1/chat\nv1/models');
  opened.expectStatus(400);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Name of the route must /).waitFor();
  expect(await faultyFields(page)).toMatchObject({ focused: 'Name of the route', alerts: 0 });
  await page.getByLabel('Name of the route').fill('models');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Entry 2 must be a method/).waitFor();
  await page.getByText(/^Entry 2 must begin with/).waitFor();
  await opened.look('proxy-route-change');
  await page.getByLabel('Allowed methods').fill('GET, POST');
  await page.getByLabel('Allowed paths').fill('/v1/chat\n/v1/models');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Proxy Models was changed').waitFor();
  expect(await sluice.proxies.get(id)).toMatchObject({
    ...{ path_name: 'models', accept_key_as: ['bearer'] },
    ...{ allowed_methods: ['GET', 'POST'], allowed_paths: ['/v1/chat', '/v1/models'] },
  });

  const callers = page.getByRole('region', { name: 'Callers' });
  await callers.getByText('named Proxies', { exact: true }).waitFor();
  expect(await callers.getByRole('row').allInnerTexts()).toEqual([
    expect.stringMatching(/^application/i),
    expect.stringContaining('Calls all'),
    expect.stringContaining('Agent of models'),
  ]);
  const calls = page.getByRole('region', { name: 'Call this Proxy' });
  for (const [client, line] of [
    ['curl', `${stack.baseUrl}/routes/models`],
    ['Client library (TypeScript)', "sluice.route('models')"],
    ['OpenAI', `baseURL: '${stack.baseUrl}/routes/models/v1'`],
    ['Anthropic', `baseURL: '${stack.baseUrl}/routes/models'`],
    ['Stripe', "sluice.route('models').fetch"],
    ['Octokit (GitHub)', `baseUrl: '${stack.baseUrl}/routes/models'`],
    ['git', `credential.${stack.baseUrl}.helper`],
  ] as const) {
    await calls.getByLabel('Client', { exact: true }).selectOption(client);
    await calls.getByText(line).waitFor();
    const isMissing = await calls.getByText('The route does not accept keys there').isVisible();
    expect([client, isMissing]).toEqual([client, client === 'Anthropic' || client === 'git']);
  }
  await opened.look('proxy-route');
  await callers.getByRole('link', { name: 'Explain a call of Agent of models' }).click();
  await page.getByRole('heading', { name: 'Agent of models', level: 1 }).waitFor();
  await page
    .getByRole('region', { name: 'May this Application make a call?' })
    .getByText('Refused: nothing is sent to the destination')
    .waitFor();
});

test('members of a route are taken away again', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice } = world.current;
  const { id } = await sluice.proxies.create({
    ...{ name: 'Routed', destination_url: 'https://routed.example', path_name: 'routed' },
    ...{ accept_key_as: ['basic'], allowed_methods: ['GET'], allowed_paths: ['/a'] },
  });
  await opened.goto(`/proxies/${id}`, 'Routed');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Name of the route').fill('');
  await page.getByLabel('Authorization: Basic').uncheck();
  await page.getByLabel('Allowed methods').fill('');
  await page.getByLabel('Allowed paths').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The Proxy Routed was changed').waitFor();
  const changed = await sluice.proxies.get(id);
  for (const member of ['path_name', 'accept_key_as', 'allowed_methods', 'allowed_paths']) {
    expect(changed).not.toHaveProperty(member);
  }
});

test('the response guard is chosen, with what each mode does, and switched off again', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice } = world.current;
  const { id } = await sluice.proxies.create({ name: 'Echoing', destination_url: 'https://echo.example' });
  const save = async () => {
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
  };
  const shown = page.locator('dl > div', { has: page.getByText('Response guard', { exact: true }) });
  await opened.goto(`/proxies/${id}`, 'Echoing');
  await shown.getByText('off', { exact: true }).waitFor();
  for (const [mode, does] of [
    ['Block', 'gets 502 instead of the response'],
    ['Tokenize', 'gets the expression of the token instead'],
    ['Redact', 'gets [redacted] instead'],
  ] as const) {
    await page.getByRole('button', { name: 'Change' }).click();
    const guard = page.getByLabel('Response guard');
    await guard.selectOption(mode);
    await page.getByText(does).waitFor();
    await page.getByText('The guard finds values in the usual encodings').waitFor();
    if (mode === 'Block') await opened.look('proxy-guard-change');
    await save();
    await shown.getByText(mode, { exact: true }).waitFor();
    expect(await sluice.proxies.get(id)).toMatchObject({ response_guard: mode.toLowerCase() });
  }
  await opened.look('proxy-guard');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Response guard').selectOption('Off');
  await page.getByText('Responses pass as the destination sends them.').waitFor();
  expect(await page.getByText('It finds values').count()).toBe(0);
  await save();
  expect(await sluice.proxies.get(id)).not.toHaveProperty('response_guard');
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
  await page.getByText('Payments was restored to version 1').waitFor();
  const { request_transform } = await world.current.sluice.proxies.get(proxy.id);
  expect(request_transform?.code).toContain('({ body: req.args.body })');
});
