import { eventually, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const number = '4242424242424242';
const longId = `order-${'0123456789-'.repeat(9)}of-the-shop`;

const world = useStack(async () => {
  const platform = await openConsole();
  const { sluice } = platform;
  const backend = await sluice.applications.create({
    name: 'Backend',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:create', 'token:read'] }],
  });
  const { tokens } = clientOf(platform.stack.baseUrl, backend.key).sluice;
  for (let at = 0; at < 20; at++) await tokens.create({ data: `secret ${at}`, metadata: { order: String(at) } });
  const card = await tokens.create({
    id: longId,
    type: 'card',
    data: { number },
    metadata: { customer: 'c-1042', note: 'a text that is long enough to be broken into lines somewhere' },
    search_indexes: ['{{ data.number }}'],
    expires_at: '2036-01-01T00:00:00Z',
  });
  await tokens.get(card.id);
  const seen = async () => (await sluice.logs.list({ token_id: card.id, size: 1 }).page()).pagination.total_items;
  await eventually('the log is written', async () => (await seen()) === 2);
  return { ...platform, card, backend };
});

test('tokens are listed without values, and found by what is not secret', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/tokens', 'Tokens');
  await page.getByText('1–20 of 21').waitFor();
  await opened.look('tokens');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('21–21 of 21').waitFor();
  await page.getByRole('combobox', { name: 'Type' }).selectOption('card');
  await page.getByText('1–1 of 1').waitFor();
  expect(new URL(page.url()).search).toBe('?type=card');
  await page.getByRole('textbox', { name: 'Metadata' }).fill('customer=c-1042');
  await page.keyboard.press('Enter');
  await eventually('it is in the address', () => page.url().includes('customer'));
  await page.getByText('1–1 of 1').waitFor();
  await page.getByLabel('Created from').fill('2036-01-01T00:00');
  await page.getByText('No Tokens match').waitFor();
  await opened.look('tokens-none');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByRole('textbox', { name: 'Container' }).fill('/pci/*');
  await page.keyboard.press('Enter');
  await page.getByText('1–1 of 1').waitFor();
  expect(await page.content()).not.toContain(number);
  expect(await page.content()).not.toContain('secret 1');
});

test('the page of a token says who touched it, and leads to what a key sees of it', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { card } = world.current;
  await opened.goto(`/tokens/${encodeURIComponent(card.id)}`, 'Token');
  await page.getByRole('cell', { name: 'Read' }).waitFor();
  await page.getByRole('cell', { name: 'Created' }).waitFor();
  await page.getByText('c-1042').waitFor();
  await opened.look('token');
  expect(await page.content()).not.toContain(number);
  await page.getByRole('listitem').getByRole('link', { name: 'Backend' }).click();
  await page.getByText('Allowed: callers see the value').waitFor();
});

test('a token that is gone says so, and keeps its log', async () => {
  await using opened = await signIn(world.current);
  await opened.goto('/tokens/nothing-of-ours', 'Token');
  await opened.page.getByText('There is no token with this id').waitFor();
  await opened.page.getByText('The audit log has no rows about this token').waitFor();
  await opened.look('token-none');
});

test('a thousand tokens have pages that the keyboard turns, and leave the page quick', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { tokens } = clientOf(world.current.stack.baseUrl, world.current.backend.key).sluice;
  const makeTen = (ten: number) =>
    Array.from({ length: 10 }, (_, at) =>
      tokens.create({ data: `of a thousand ${ten} ${at}`, containers: ['/general/'] }),
    );
  for (let ten = 0; ten < 100; ten++) await Promise.all(makeTen(ten));
  await opened.goto('/tokens', 'Tokens');
  await page.getByText('1–20 of 1,021').waitFor();
  expect(await page.getByRole('row').count()).toBe(21);
  await page.getByRole('button', { name: 'Next' }).focus();
  for (const pageNumber of [2, 3]) {
    await page.keyboard.press('Enter');
    await page.getByText(`${pageNumber * 20 - 19}–${pageNumber * 20} of 1,021`).waitFor();
  }
  await page.goto(`${world.current.consoleUrl}/tokens?page=52`);
  await page.getByText('1,021–1,021 of 1,021').waitFor();
  await page.getByRole('button', { name: 'Previous' }).press('Enter');
  await page.getByText('1,001–1,020 of 1,021').waitFor();
  await opened.look('tokens-thousand');
});
