import { eventually, eventuallyEqual, useStack } from '@sluice/testing';
import { type OpenShop, startShops } from '@sluice/testing/browser';
import type { TextOptions } from './types.ts';

const shops = useStack(startShops);
const asked = () => shops.current.vault.asked;

async function addText({ page }: OpenShop, id: string, options: Omit<TextOptions, 'title' | 'label'> = {}) {
  await page.evaluate(
    ({ id, options }) => {
      const target = Object.assign(document.createElement('div'), { id, className: 'field' });
      document.getElementById('form')?.append(target);
      window.mounted[id] = window.shop.field('text', target, { title: id, ...options });
      return window.mounted[id].ready;
    },
    { id, options },
  );
}

const tokenize = ({ page }: OpenShop, options = {}) =>
  page.evaluate(
    (given) =>
      window.shop.tokenize(given).then(
        (token) => ({ token }),
        ({ message, ...problem }) => ({ message, problem }),
      ),
    options,
  );

test('one text makes its string, by a mask as it is shown', async () => {
  await using shop = await shops.current.open();
  await addText(shop, 'ssn', { mask: '999-99-9999' });
  await shop.input('ssn').pressSequentially('123456789');
  expect(await shop.input('ssn').inputValue()).toBe('123-45-6789');
  expect(await shop.input('ssn').getAttribute('inputmode')).toBe('numeric');
  expect(await shop.input('ssn').getAttribute('dir')).toBe('auto');
  await tokenize(shop, { type: 'social_security_number', containers: ['/pii/high/'] });
  expect(asked()).toMatchObject([
    { body: { type: 'social_security_number', data: '123-45-6789', containers: ['/pii/high/'] } },
  ]);
});

test('several texts make an object by their names', async () => {
  await using shop = await shops.current.open();
  await addText(shop, 'first', { name: 'routing_number', mask: '999999999' });
  await addText(shop, 'second', { name: 'account_number', pattern: '\\d{1,17}' });
  await shop.input('first').pressSequentially('021000021');
  await shop.input('second').fill('x');
  expect(await tokenize(shop, { type: 'bank' })).toMatchObject({ problem: { fields: ['account_number'] } });
  await eventuallyEqual(() => shop.input('second').getAttribute('aria-invalid'), 'true');
  await shop.input('second').fill('12345');
  await tokenize(shop, { type: 'bank' });
  expect(asked()).toMatchObject([{ body: { data: { routing_number: '021000021', account_number: '12345' } } }]);
});

test('text without a mask is edited as any text', async () => {
  await using shop = await shops.current.open();
  await addText(shop, 'name');
  await shop.input('name').pressSequentially('Ada L');
  await shop.input('name').press('Backspace');
  await shop.input('name').press('Backspace');
  expect(await shop.input('name').inputValue()).toBe('Ada');
  await tokenize(shop);
  expect(asked()).toMatchObject([{ body: { type: 'token', data: 'Ada' } }]);
});

test('a mask or a pattern that means nothing is told', async () => {
  await using shop = await shops.current.open();
  for (const [options, message] of [
    [{ mask: '+1 999' }, 'must not contain 1'],
    [{ pattern: '(' }, 'Invalid regular expression'],
  ] as const) {
    await expect(addText(shop, 'text', options)).rejects.toThrow(message);
    await shop.page.evaluate(() => window.shop.destroy());
  }
});

test('a pattern cannot be changed once something is typed, so it cannot be asked about it', async () => {
  await using shop = await shops.current.open();
  await addText(shop, 'text', { pattern: 'a' });
  await shop.input('text').fill('secret');
  await shop.page.evaluate(() => window.mounted.text?.update({ pattern: '.*' } as never));
  expect(await tokenize(shop)).toMatchObject({ problem: { fields: ['text'] } });
});

test('a number alone makes a card, or a card_number', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  await shop.input('number').fill('4242424242424242');
  await tokenize(shop);
  await tokenize(shop, { type: 'card_number' });
  expect(asked().map(({ body }) => body)).toEqual([
    { type: 'card', data: { number: '4242424242424242' } },
    { type: 'card_number', data: '4242424242424242' },
  ]);
});

test('what is not complete is told, and marked', async () => {
  await using shop = await shops.current.open({ kinds: ['number', 'expiry', 'cvc'] });
  await shop.input('number').fill('4242424242424242');
  const { message, problem } = (await tokenize(shop)) as { message: string; problem: unknown };
  expect({ message, problem }).toEqual({
    message: 'The fields are not complete',
    problem: { title: 'The fields are not complete', fields: ['expiry', 'cvc'] },
  });
  await shop.page.locator('#cvc[data-field~=invalid]').waitFor();
  expect(asked()).toEqual([]);
});

test('an answer of the vault that refuses is told as it is', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  await shop.input('number').fill('4242424242424242');
  const body = { title: 'Bad Request', status: 400, detail: 'See errors', errors: { 'data.number': ['is wrong'] } };
  shops.current.vault.prepared.push(
    { status: 400, body },
    { status: 429, body: { title: 'Slow' }, headers: { 'Retry-After': '7' } },
  );
  expect(await tokenize(shop)).toEqual({ message: 'See errors', problem: { ...body } });
  expect(await tokenize(shop)).toEqual({
    message: 'Slow',
    problem: { title: 'Slow', status: 429, retryAfterSeconds: 7 },
  });
  for (const text of ['1.5', '-3', '0x10', '', 'Sat, 06 Nov 2094 08:49:37 GMT']) {
    shops.current.vault.prepared.push({ status: 429, body: { title: 'Slow' }, headers: { 'Retry-After': text } });
    expect(await tokenize(shop)).toEqual({ message: 'Slow', problem: { title: 'Slow', status: 429 } });
  }
  shop.seen.errors.length = 0;
});

test('a creation whose answer is lost is sent again with its idempotency key, also by the next call', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  await shop.input('number').fill('4242424242424242');
  shops.current.vault.prepared.push('lost', 'lost', 'lost', 'lost');
  expect(await tokenize(shop)).toMatchObject({ message: 'The vault did not respond' });
  expect(await tokenize(shop)).toMatchObject({ token: { type: 'card' } });
  const keys = () => new Set(asked().map(({ headers }) => headers['svc-idempotency-key']));
  expect(asked().length).toBeGreaterThan(4);
  expect(keys().size).toBe(1);
  await tokenize(shop);
  expect(keys().size).toBe(2);
  shop.seen.errors.length = 0;
});

test('a second click shares the answer of the first, and other content does not', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  await shop.input('number').fill('4242424242424242');
  const gate = Promise.withResolvers<void>();
  shops.current.vault.answerGate = gate.promise;
  const all = shop.page.evaluate(() => {
    const order = (name: string) => window.shop.tokenize({ metadata: { name } }).then(({ id }) => id);
    return Promise.all([order('a'), order('b'), order('a'), order('b'), order('a')]);
  });
  await eventually('both are asked for', () => asked().length === 2);
  gate.resolve();
  expect(new Set(await all).size).toBe(1);
  expect(asked().map(({ body }) => body.metadata)).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(new Set(asked().map(({ headers }) => headers['svc-idempotency-key'])).size).toBe(2);
  await shop.page.evaluate(() => window.shop.tokenize({ metadata: { name: 'a' } }));
  expect(new Set(asked().map(({ headers }) => headers['svc-idempotency-key'])).size).toBe(3);
});

test('a refusal is shared too, and a later call asks again', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  await shop.input('number').fill('4242424242424242');
  shops.current.vault.prepared.push({ status: 400, body: { title: 'No' } });
  const both = await shop.page.evaluate(() =>
    Promise.all([0, 1].map(() => window.shop.tokenize().catch(({ title }) => title))),
  );
  expect(both).toEqual(['No', 'No']);
  expect(asked()).toHaveLength(1);
  await tokenize(shop);
  expect(new Set(asked().map(({ headers }) => headers['svc-idempotency-key'])).size).toBe(2);
  shop.seen.errors.length = 0;
});

test('a security code is given again: the frame has the session, the page only its nonce', async () => {
  await using shop = await shops.current.open({ kinds: ['cvc'] });
  await shop.input('cvc').fill('987');
  const told = await shop.page.evaluate(async () => {
    const nonces: string[] = [];
    const token = await window.shop.update('a token', async (nonce) => nonces.push(nonce));
    return { nonces, token };
  });
  expect(told).toEqual({ nonces: ['nonce'], token: expect.not.objectContaining({ data: expect.anything() }) });
  expect(asked().map(({ method, path, headers, body }) => [method, path, headers['svc-api-key'], body])).toEqual([
    ['POST', '/sessions', 'public-key', {}],
    ['PATCH', '/tokens/a%20token', 'session-key', { data: { cvc: '987' } }],
  ]);
  expect(asked()[1]?.headers['content-type']).toBe('application/merge-patch+json');
});

test('a page that does not authorize is told why, and nothing is read or changed', async () => {
  await using shop = await shops.current.open({ kinds: ['cvc'] });
  await shop.input('cvc').fill('987');
  const told = await shop.page.evaluate(() =>
    window.shop.update('t', () => Promise.reject(new Error('not you'))).catch((error) => error.message),
  );
  expect(told).toBe('Error: not you');
  expect(asked().map(({ path }) => path)).toEqual(['/sessions']);
});
