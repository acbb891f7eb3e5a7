import { eventually, eventuallyEqual, useStack } from '@sluice/testing';
import { type OpenShop, startShops } from '@sluice/testing/browser';
import type { Theme } from './types.ts';

// A hostile script in the page takes the ports of the frames and orders what it likes. The frame decides.

const shops = useStack(startShops);
const asked = () => shops.current.vault.asked;

const tokenize = ({ page }: OpenShop, fields: string[], options: object = {}) =>
  page.evaluate(({ fields, options }) => window.order(fields[0] ?? '', { do: 'tokenize', fields, options }), {
    fields,
    options,
  });

async function addText({ page }: OpenShop, options: { mask?: string; pattern?: string; theme?: Theme } = {}) {
  await page.evaluate((given) => {
    const target = Object.assign(document.createElement('div'), { id: 'text', className: 'field' });
    document.getElementById('form')?.append(target);
    window.mounted.text = window.shop.field('text', target, { title: 'Text', ...given });
    for (const name of ['change', 'focus', 'blur'] as const) {
      window.mounted.text.on(name, (event) => window.events.push(['text', name, event]));
    }
    return window.mounted.text.ready;
  }, options);
}

const card = ['number', 'expiry', 'cvc'] as const;

async function openTyped() {
  const shop = await shops.current.open({ kinds: [...card] });
  await shop.input('number').fill('4242424242424242');
  await shop.input('expiry').fill('12/30');
  await shop.input('cvc').fill('123');
  return shop;
}

test.each<[string, string[], object, string[] | undefined]>([
  ['a security code', ['cvc'], { type: 'token' }, ['number']],
  ['a security code as a card', ['cvc'], {}, ['number']],
  ['a security code as a number', ['cvc'], { type: 'card_number' }, ['number']],
  ['an expiry', ['expiry'], { type: 'token' }, ['number']],
  ['an expiry and a code', ['expiry', 'cvc'], { type: 'token' }, ['number']],
  ['a code twice', ['cvc', 'cvc'], { type: 'token' }, ['number']],
  ['a code and a frame that is not there', ['cvc', 'none'], { type: 'token' }, ['none', 'number']],
  ['a card as a token', ['number', 'expiry', 'cvc'], { type: 'token' }, undefined],
  ['a number and a code as a number', ['number', 'cvc'], { type: 'card_number' }, undefined],
  ['a number as a token', ['number'], { type: 'token' }, undefined],
  ['a number as a text of another type', ['number'], { type: 'us_bank_account_number' }, undefined],
])('%s does not leave as what the page orders', async (_, fields, options, missing) => {
  await using shop = await openTyped();
  const { problem, token } = await tokenize(shop, fields, options);
  expect({ token, fields: problem?.fields }).toEqual({ token: undefined, fields: missing });
  expect(problem?.title).toMatch(
    missing ? /^The fields are not complete$/ : /^These fields cannot make a token of type /,
  );
  expect(asked()).toEqual([]);
});

test('a card leaves whole or as a number alone, and only as it is', async () => {
  await using shop = await openTyped();
  const members = {
    id: 'chosen',
    deduplicate_token: true,
    fingerprint_expression: '{{ data.cvc }}',
    mask: '{{ data }}',
  };
  await tokenize(shop, ['cvc', 'number', 'expiry'], members);
  await tokenize(shop, ['number'], { type: 'card_number', ...members });
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  expect(asked().map(({ body }) => body)).toEqual([
    { type: 'card', data },
    { type: 'card_number', data: data.number },
  ]);
});

test('the page gets nothing with which it could compare guesses', async () => {
  await using shop = await openTyped();
  const { token } = await tokenize(shop, ['number', 'expiry', 'cvc']);
  expect(token).toEqual({ id: expect.any(String), type: 'card', containers: ['/pci/high/'] });
  const updated = await shop.page.evaluate(() => window.shop.update('t', async () => {}));
  expect(updated).toEqual({ id: expect.any(String), type: 'card', containers: ['/pci/high/'] });
});

test('a text makes no token with a part of a card, and no card_number', async () => {
  await using shop = await shops.current.open();
  await shop.page.evaluate(() => {
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (this: MessagePort, data: object, ...more: []) {
      return postMessage.call(this, 'group' in data ? { ...data, group: 'one' } : data, ...more);
    };
  });
  await addText(shop);
  await shop.page.evaluate((origin) => {
    const target = document.body.appendChild(document.createElement('div'));
    target.id = 'number';
    return window.fields(origin, 'public-key', { application: 'app' }).field('number', target, { title: 'N' }).ready;
  }, shops.current.vault.origin);
  await shop.input('text').fill('4242424242424242');
  await shop.input('number').fill('4242424242424242');
  for (const fields of [
    ['number', 'text'],
    ['text', 'number'],
  ]) {
    expect((await tokenize(shop, fields)).problem?.title).toBe(
      'Text fields and card fields cannot make one token together',
    );
  }
  expect((await tokenize(shop, ['text'], { type: 'card_number' })).problem?.title).toMatch(/type card_number$/);
  expect(asked()).toEqual([]);
  expect((await tokenize(shop, ['number'])).token?.type).toBe('card');
});

describe('a text', () => {
  const digits = '83157';

  test('with a pattern tells nothing of it while it is typed, and is judged when it is left', async () => {
    await using shop = await shops.current.open();
    await addText(shop, { pattern: '.*[13579]' });
    const { page, input } = shop;
    const told = () => page.evaluate(() => window.events.map(([, name, event]) => event ?? name));
    await input('text').click();
    await page.locator('#text[data-field~=focused]').waitFor();
    await page.keyboard.type(`${digits}0`, { delay: 30 });
    const whileTyped = [{ empty: true, complete: false }, 'focus', { empty: false, complete: true }];
    await eventuallyEqual(told, whileTyped);
    expect(await page.locator('#text').getAttribute('data-field')).not.toContain('invalid');
    await page.keyboard.press('Tab');
    await page.locator('#text[data-field~=invalid]').waitFor();
    await eventuallyEqual(told, [...whileTyped, 'blur']);
    await input('text').fill(digits);
    await page.locator('#text:not([data-field~=invalid])').waitFor();
    await input('text').blur();
    expect((await tokenize(shop, ['text'])).token).toBeDefined();
    expect(asked()).toMatchObject([{ body: { data: digits } }]);
  });

  test('with a mask is complete when the mask is filled, whatever its pattern', async () => {
    await using shop = await shops.current.open();
    await addText(shop, { mask: '99-99', pattern: 'x' });
    await shop.input('text').pressSequentially('12');
    await shop.page.locator('#text:not([data-field~=complete])').waitFor();
    await shop.input('text').pressSequentially('34');
    await shop.page.locator('#text[data-field~=complete]').waitFor();
  });

  test.each(['tokenize', 'update'] as const)('loses its focus when the page asks for a judgement: %s', async (what) => {
    await using shop = await shops.current.open();
    await addText(shop, { pattern: '.*[13579]' });
    const { page, input } = shop;
    await input('text').click();
    await page.locator('#text[data-field~=focused]').waitFor();
    await page.keyboard.type('12', { delay: 30 });
    const problem = await page.evaluate(
      (name) =>
        (name === 'tokenize' ? window.shop.tokenize() : window.shop.update('t', async () => {})).catch(
          ({ fields }) => fields,
        ),
      what,
    );
    expect(problem).toEqual(['text']);
    await page.locator('#text[data-field~=invalid]:not([data-field~=focused])').waitFor();
    await page.keyboard.type('3', { delay: 30 });
    expect(await input('text').inputValue()).toBe('12');
    expect(asked()).toEqual([]);
  });

  test('is as high when it is invalid; a part of a card takes the whole style', async () => {
    await using shop = await shops.current.open({ kinds: ['number'] });
    const invalid = { 'line-height': '5', 'font-size': '40px', padding: '9px', color: 'rgb(1, 2, 3)', opacity: '0.5' };
    const theme = { invalid };
    const { page, input } = shop;
    await page.evaluate((changes) => window.mounted.number?.update(changes), { theme });
    await input('number').fill('4');
    await input('number').blur();
    const look = (id: string) =>
      input(id).evaluate((element) => {
        const { color, opacity, fontSize } = getComputedStyle(element);
        return { color, opacity, fontSize };
      });
    await eventuallyEqual(() => look('number'), { color: 'rgb(1, 2, 3)', opacity: '0.5', fontSize: '40px' });
    await page.evaluate(() => window.shop.destroy());
    await addText(shop, { pattern: 'x', theme });
    const height = async () => (await page.locator('#text iframe').boundingBox())?.height;
    await eventuallyEqual(height, 24);
    await input('text').fill('y');
    await input('text').blur();
    await eventuallyEqual(() => look('text'), { color: 'rgb(1, 2, 3)', opacity: '0.5', fontSize: '16px' });
    expect(await height()).toBe(24);
  });
});

test('the style of the element around a field sets what a theme may, and nothing else', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  const body = () =>
    input('number').evaluate((element) => {
      const { color, font, rotate, position, backgroundImage, content, display } = getComputedStyle(
        element.ownerDocument.body,
      );
      return { color, font, rotate, position, backgroundImage, content, display };
    });
  const before = await body();
  await page.evaluate(() => {
    void window.order('number', {
      do: 'update',
      title: 'x',
      themes: [],
      around: {
        cssText: 'position: fixed; background-image: url(/elements/leak); rotate: 9deg',
        rotate: '90deg',
        display: 'none',
        content: 'url(/elements/leak)',
        background: 'url(/elements/leak)',
        'background-color': 'url(/elements/leak)',
        font: 'italic 20px / 30px Georgia, serif',
        color: 'rgb(1, 2, 3)',
      },
    });
  });
  await eventually('the color', async () => (await body()).color === 'rgb(1, 2, 3)');
  expect(await body()).toEqual({ ...before, color: 'rgb(1, 2, 3)', font: 'italic 20px / 30px Georgia, serif' });
  expect(shop.seen.requests.filter((url) => url.includes('leak'))).toEqual([]);
});
