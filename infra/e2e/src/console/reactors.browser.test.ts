import { createServer } from 'node:http';
import { listen } from '@sluice/service-runtime';
import { useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { faultyFields, openConsole, signIn, signInLink } from './open-console.ts';

const world = useStack(async (closing) => ({
  ...(await openConsole()),
  destination: await openDestination(closing),
}));

/** It answers nothing before it is released. */
async function openDestination(stack: AsyncDisposableStack) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const server = createServer(async (_, response) => {
    await released;
    response.end('{}');
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${port}`, release };
}

test('a Reactor is made, written, tried, changed and deleted', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/reactors', 'Reactors');
  await page.getByText('No Reactors yet').waitFor();
  await opened.look('reactors-empty');
  await page.getByRole('link', { name: 'New Reactor' }).click();
  await page.getByRole('heading', { name: 'New Reactor' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Check a card');
  await opened.look('reactor-new');
  await page.getByRole('button', { name: 'Create Reactor' }).click();
  await page.getByRole('heading', { name: 'Check a card', level: 1 }).waitFor();
  await page
    .getByRole('textbox', { name: 'Code of the Reactor' })
    .fill(
      "module.exports = async (req) => {\nconsole.warn('checking');\nreturn { raw: { ok: req.args.amount > 1 } };\n};",
    );
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('"ok": true').waitFor();
  await page.getByText('checking', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The code of Check a card was saved').waitFor();
  await opened.look('reactor');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Repeat interrupted runs').check();
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('are repeated').waitFor();
  const { data } = await world.current.sluice.reactors.list().page();
  expect(data).toMatchObject([{ name: 'Check a card', retryable: true, code: expect.stringContaining('checking') }]);
  await opened.goto('/reactors', 'Reactors');
  await page.getByRole('link', { name: 'Check a card' }).waitFor();
  await opened.look('reactors');
  await page.getByRole('link', { name: 'Check a card' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The Reactor Check a card was deleted').waitFor();
});

test('the runs of a Reactor are shown with what they printed, and again as they go on', async () => {
  const { sluice, createApplication, stack, destination } = world.current;
  const { key } = await createApplication({ name: 'Runs', permissions: ['token:use'] });
  const code = `module.exports = async (req) => {
    console.log('asked by', req.args.name);
    if (req.args.url) await fetch(req.args.url);
    else throw new Error('no address');
    return { raw: {} };
  };`;
  const { id } = await sluice.reactors.create({ name: 'Nightly', code });
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto(`/reactors/${id}`, 'Nightly');
  await page.getByText('No runs in the last 24 hours').waitFor();
  const { reactors } = clientOf(stack.baseUrl, key).sluice;
  await reactors.reactAsync(id, { args: { name: 'the first' } });
  const runs = page.getByRole('group', { name: 'Runs' });
  await runs.getByText('failed').waitFor();
  await reactors.reactAsync(id, { args: { name: 'the second', url: destination.url }, timeout_ms: 210_000 });
  await runs.getByText('running').waitFor();
  await runs.getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Only the Application or session that requested a run can cancel it').waitFor();
  await opened.screenshot('reactor-run-cancel', { whole: true });
  await page.keyboard.press('Escape');
  await runs
    .getByRole('row', { name: /running/ })
    .getByRole('button', { name: 'Details' })
    .click();
  const underWay = page.getByRole('dialog', { name: 'Run' });
  await underWay.getByText(`curl -X DELETE "$SLUICE_URL/reactors/${id}/results/`).waitFor();
  await opened.screenshot('reactor-run-under-way');
  await underWay.getByRole('button', { name: 'Close' }).click();
  destination.release();
  await runs.getByText('done').waitFor();
  await runs.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  await opened.look('reactor-runs');
  await runs.getByRole('button', { name: 'Details' }).first().click();
  const details = page.getByRole('dialog', { name: 'Run' });
  await details.getByText('asked by the second').waitFor();
  await opened.look('reactor-run');
  await details.getByRole('button', { name: 'Close' }).click();
  for (let more = 0; more < 10; more += 1) await reactors.reactAsync(id, { args: { name: 'one of many' } });
  await page.getByRole('button', { name: 'Next' }).click();
  await runs.getByText('done').waitFor();
  await page.getByRole('button', { name: 'First page' }).click();
  await runs.getByText('done').waitFor({ state: 'detached' });
});

test('a formula is made, written, tried and changed, Reactors are made of it, and it is deleted once none runs it', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice } = world.current;
  await opened.goto('/reactors', 'Reactors');
  await page.getByRole('link', { name: 'Formulas', exact: true }).click();
  await page.getByText('No formulas yet').waitFor();
  await opened.look('formulas-empty');
  await page.getByRole('link', { name: 'New formula' }).click();
  await page.getByRole('heading', { name: 'New formula' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Look up a card');
  await page.getByLabel('Description', { exact: true }).fill('Says who issued it');
  await page.getByRole('button', { name: 'Add a value' }).click();
  await page.getByLabel('Value 1: name').fill('LIMIT');
  await page.getByLabel('Value 1: type').selectOption('number');
  await page.getByLabel('Value 1: description').fill('The highest amount');
  await page.getByRole('button', { name: 'Add an argument' }).click();
  await page.getByLabel('Argument 1: name').fill('amount');
  await page.getByLabel('Argument 1: type').selectOption('number');
  await page.getByLabel('optional').check();
  await opened.look('formula-new');
  await page.getByRole('button', { name: 'Create formula' }).click();
  await page.getByRole('heading', { name: 'Look up a card', level: 1 }).waitFor();
  await page.getByText('No Reactor uses this formula').waitFor();

  const code = 'module.exports = async (req) => ({ raw: { isLow: req.args.amount < req.configuration.LIMIT } });';
  await page.getByRole('textbox', { name: 'Code of the formula' }).fill(code);
  await page.getByLabel('LIMIT').fill('5000');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('"isLow": true').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The code of Look up a card was saved').waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Description', { exact: true }).fill('Says whether the amount is low');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('The formula Look up a card was changed').waitFor();
  await page.getByText('Says whether the amount is low').waitFor();
  const [formula] = await sluice.reactorFormulas.list().toArray();
  expect(formula).toMatchObject({
    code,
    description: 'Says whether the amount is low',
    configuration: [{ name: 'LIMIT', type: 'number', description: 'The highest amount' }],
    request_parameters: [{ name: 'amount', type: 'number', optional: true }],
  });

  await page.getByRole('link', { name: 'New Reactor' }).click();
  await page.getByRole('heading', { name: 'New Reactor' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Low amounts');
  await page.getByRole('combobox', { name: 'Source of the code' }).fill('look up');
  await page.getByRole('option', { name: 'Look up a card' }).click();
  await page.getByLabel('LIMIT').fill('many');
  opened.expectStatus(400);
  await page.getByRole('button', { name: 'Create Reactor' }).click();
  await page.getByText(/^LIMIT must be a number/).waitFor();
  expect(await faultyFields(page)).toEqual({ faulty: ['LIMIT'], focused: 'LIMIT', alerts: 0 });
  await opened.look('reactor-new-of-formula');
  await page.getByLabel('LIMIT').fill('70');
  await page.getByRole('button', { name: 'Create Reactor' }).click();
  await page.getByRole('heading', { name: 'Low amounts', level: 1 }).waitFor();
  await page.getByText('the formula Look up a card', { exact: true }).waitFor();
  await opened.look('reactor-of-formula');
  const [reactor] = await sluice.reactors.list({ name: 'Low amounts' }).toArray();
  expect(reactor).toMatchObject({ formula_id: formula?.id, configuration: { LIMIT: 70 } });

  await page.getByRole('link', { name: 'Look up a card' }).click();
  await page.getByRole('link', { name: 'Low amounts' }).waitFor();
  await opened.look('formula');
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  };
  opened.expectStatus(409);
  await remove();
  await page.getByText('Reactors use this formula').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await sluice.reactors.delete(reactor?.id ?? '');
  await remove();
  await page.getByText('The formula Look up a card was deleted').waitFor();
  await page.getByText('No formulas yet').waitFor();
});

test('a pasted id of a formula finds its page', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const code = 'module.exports = async () => ({ raw: 1 });';
  const { id } = await world.current.sluice.reactorFormulas.create({ name: 'Found by id', code });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Search pages/ }).fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Found by id', level: 1 }).waitFor();
});

test('who may only read Reactors sees that a run has ended, but not what it printed', async () => {
  const { sluice, createApplication, stack, consoleUrl } = world.current;
  const { id } = await sluice.reactors.create({
    name: 'Private',
    code: "module.exports = async () => { console.log('for writers'); return { raw: {} }; };",
  });
  const caller = await createApplication({ name: 'Caller', permissions: ['token:use'] });
  const reader = await createApplication({ name: 'Reader', type: 'management', permissions: ['reactor:read'] });
  await clientOf(stack.baseUrl, caller.key).sluice.reactors.reactAsync(id, {});
  await using opened = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  const readDetails = async (text: string | RegExp) => {
    await opened.goto(`/reactors/${id}`, 'Private');
    await page.getByRole('group', { name: 'Runs' }).getByText('done').waitFor();
    await page.getByRole('button', { name: 'Details' }).click();
    await page.getByRole('dialog', { name: 'Run' }).getByText(text).waitFor();
  };
  await readDetails('for writers');
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByLabel('Management key').fill(reader.key);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByText('You cannot see the figures of this Tenant').waitFor();
  await readDetails(/need the permission reactor:update/);
  expect(await page.getByRole('dialog').getByText('for writers').count()).toBe(0);
  await opened.look('reactor-run-locked');
});
