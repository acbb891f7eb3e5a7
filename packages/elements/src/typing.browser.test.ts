import { eventually, eventuallyEqual, useStack } from '@sluice/testing';
import { type OpenShop, startShops } from '@sluice/testing/browser';

const shops = useStack(startShops);
/** Between two keys, in ms, so that what a field does after one is done before the next. */
const delay = 40;
/** Another frame may be in another process, so the focus is there a moment after the key. */
async function pressUntilIn({ page }: OpenShop, key: string, id: string) {
  await page.keyboard.press(key);
  await page.locator(`#${id}[data-field~=focused]`).waitFor();
  await eventually('the focus', () => page.evaluate((at) => document.activeElement?.parentElement?.id === at, id));
}

/** Shows text with the caret as `|`. */
const stateOf = (shop: OpenShop, id: string) =>
  shop.input(id).evaluate((element: HTMLInputElement) => {
    const caret = element.selectionStart ?? 0;
    return `${element.value.slice(0, caret)}|${element.value.slice(caret)}`;
  });

/** The latest that the page has heard of a field; it hears by messages, a moment after the key. */
const lastOf = async (shop: OpenShop, id: string) => (await shop.eventsOf(id)).at(-1);

const separate = ['number', 'expiry', 'cvc'] as const;

test('a card that is typed becomes a token, and the page sees nothing of it', async () => {
  await using shop = await shops.current.open({ kinds: [...separate] });
  const { page, input } = shop;
  await page.getByText('Card number').click();
  await page.keyboard.type('4242424242424242', { delay });
  await pressUntilIn(shop, 'Tab', 'expiry');
  await page.keyboard.type('1230', { delay });
  await pressUntilIn(shop, 'Tab', 'cvc');
  await page.keyboard.type('123', { delay });
  await eventuallyEqual(() => input('number').inputValue(), '4242 4242 4242 4242');
  await eventuallyEqual(() => input('expiry').inputValue(), '12 / 30');
  const token = await page.evaluate(() => window.shop.tokenize({ metadata: { order: '7' } }));
  expect(token).toEqual({ id: expect.any(String), type: 'card', containers: ['/pci/high/'] });
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  const [asked, ...others] = shops.current.vault.asked;
  expect(asked).toMatchObject({
    method: 'POST',
    path: '/tokens',
    body: { type: 'card', data, metadata: { order: '7' } },
  });
  expect(others).toEqual([]);
  expect(asked?.headers).toMatchObject({
    'svc-api-key': 'public-key',
    'svc-fields-application': 'app',
    'svc-idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  await eventuallyEqual(
    () => shop.eventsOf('number'),
    [
      { empty: true, complete: false },
      'focus',
      { empty: false, complete: false },
      { empty: false, complete: true, brand: 'visa' },
      { empty: false, complete: true, brand: 'visa', last4: '4242' },
      'blur',
    ],
  );
});

test('all of a card in one field: Tab goes from input to input, and the field keeps the focus', async () => {
  await using shop = await shops.current.open({ kinds: ['card'] });
  const { page, input } = shop;
  await page.getByText('Card', { exact: true }).click();
  await page.keyboard.type('378282246310005', { delay });
  await page.keyboard.press('Tab');
  await page.keyboard.type('5/2030', { delay });
  await page.keyboard.press('Tab');
  await page.keyboard.type('123', { delay });
  await eventuallyEqual(() => input('card', 'number').inputValue(), '3782 822463 10005');
  await eventuallyEqual(() => input('card', 'expiry').inputValue(), '05 / 2030');
  await eventuallyEqual(() => lastOf(shop, 'card'), { empty: false, complete: false });
  await page.keyboard.type('4', { delay });
  await eventuallyEqual(() => lastOf(shop, 'card'), { empty: false, complete: true, brand: 'amex', last4: '0005' });
  expect((await shop.eventsOf('card')).filter((event) => event === 'focus' || event === 'blur')).toEqual(['focus']);
  await page.keyboard.press('Enter');
  await eventuallyEqual(() => lastOf(shop, 'card'), 'submit');
  await page.evaluate(() => window.shop.tokenize());
  const data = { number: '378282246310005', expiration_month: 5, expiration_year: 2030, cvc: '1234' };
  expect(shops.current.vault.asked).toMatchObject([{ body: { type: 'card', data } }]);
});

test('Tab and Shift+Tab go through the fields in their order, and no field moves on by itself', async () => {
  await using shop = await shops.current.open({ kinds: [...separate] });
  const { page } = shop;
  const focused = () => page.evaluate(() => document.activeElement?.parentElement?.id);
  await page.evaluate(() => window.mounted.number?.focus());
  await page.keyboard.type('4242424242424242', { delay });
  expect(await focused()).toBe('number');
  await pressUntilIn(shop, 'Tab', 'expiry');
  await page.keyboard.type('1230', { delay });
  expect(await focused()).toBe('expiry');
  await pressUntilIn(shop, 'Tab', 'cvc');
  await page.keyboard.type('123', { delay });
  expect(await focused()).toBe('cvc');
  await pressUntilIn(shop, 'Shift+Tab', 'expiry');
});

test('a number is edited in its middle', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  const state = () => stateOf(shop, 'number');
  await input('number').click();
  await page.keyboard.type('42424242', { delay });
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft');
  expect(await state()).toBe('4242 |4242');
  await page.keyboard.press('Backspace', { delay });
  expect(await state()).toBe('424|4 242');
  await page.keyboard.type('99', { delay });
  expect(await state()).toBe('4249 9|424 2');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Delete', { delay });
  expect(await state()).toBe('4249| 4242');
  await page.keyboard.press('Delete', { delay });
  expect(await state()).toBe('4249| 242');
});

/** As a person does it, with what they have copied elsewhere. */
async function paste(shop: OpenShop, id: string, text: string) {
  const { page } = shop;
  // On a busy machine a page has the focus a moment after it came to the front, and only then may it write.
  await eventually('the page has the focus', async () => {
    await page.bringToFront();
    return page.evaluate(() => document.hasFocus());
  });
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await shop.input(id).click();
  await page.keyboard.press('ControlOrMeta+V');
}

const context = { permissions: ['clipboard-read', 'clipboard-write'] };

test.each(['6205500000000000004', '620550 0000000000004\n', '６２０５５０００００００００００００４'])(
  'a paste of 19 digits is taken whole: %j',
  async (text) => {
    await using shop = await shops.current.open({ kinds: ['number'], context });
    await paste(shop, 'number', text);
    await eventuallyEqual(() => shop.input('number').inputValue(), '6205 5000 0000 0000 004');
    await eventuallyEqual(
      () => lastOf(shop, 'number'),
      expect.objectContaining({ complete: true, brand: 'unionpay', last4: '0004' }),
    );
  },
);

test('a card that is pasted with its expiry and code is taken without them', async () => {
  await using shop = await shops.current.open({ kinds: ['number', 'expiry'], context });
  await paste(shop, 'number', '4242 4242 4242 4242 02/26 123');
  await paste(shop, 'expiry', '12/31/2030');
  await eventuallyEqual(() => shop.input('number').inputValue(), '4242 4242 4242 4242');
  await eventuallyEqual(() => shop.input('expiry').inputValue(), '12 / 2030');
  await shop.page.evaluate(() => window.shop.tokenize());
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
  expect(shops.current.vault.asked).toMatchObject([{ body: { data } }]);
});

test.each([
  ['number', '6205 5000 0000 0000 004', '6205500000000000004'],
  ['expiry', '05/06/2030', '05/30'],
] as const)(
  'a paste into %s that is not clear leaves it empty, and is marked when the field is left',
  async (id, text, clear) => {
    await using shop = await shops.current.open({ kinds: [id], context });
    const { page, input } = shop;
    await paste(shop, id, text);
    await eventuallyEqual(() => input(id).inputValue(), '');
    expect(await input(id).getAttribute('aria-invalid')).toBeNull();
    await page.keyboard.press('Tab');
    await page.locator(`#${id}[data-field~=invalid][data-field~=empty]`).waitFor();
    await paste(shop, id, clear);
    await page.keyboard.press('Tab');
    await page.locator(`#${id}[data-field~=complete]:not([data-field~=invalid])`).waitFor();
  },
);

describe('what a password manager sets without an input event', () => {
  const values = { number: '５５５５５５５５５５５５４４４４', expiry: '2031-05-01', cvc: '３２１' } as const;
  const data = { number: '5555555555554444', expiration_month: 5, expiration_year: 2031, cvc: '321' };

  test.each(['change', 'keyup', 'blur', 'none'])('is formatted before it is judged or sent, by %s', async (event) => {
    await using shop = await shops.current.open({ kinds: [...separate] });
    const { page, input } = shop;
    for (const id of separate) {
      await input(id).evaluate(
        (element: HTMLInputElement, { value, event }) => {
          element.value = value;
          if (event !== 'none') element.dispatchEvent(new Event(event, { bubbles: event !== 'blur' }));
        },
        { value: values[id], event },
      );
    }
    if (event !== 'none') {
      await page.locator('#number[data-field~=complete]').waitFor();
      await page.locator('#expiry[data-field~=complete]').waitFor();
      await page.locator('#cvc[data-field~=complete]').waitFor();
      expect(await input('cvc').inputValue()).toBe('321');
    }
    await page.evaluate(() => window.shop.tokenize());
    expect(shops.current.vault.asked).toMatchObject([{ body: { data } }]);
  });

  test('is refused where it is not clear, as a paste is', async () => {
    await using shop = await shops.current.open({ kinds: ['number'] });
    await shop.input('number').evaluate((element: HTMLInputElement) => {
      element.value = '6205 5000 0000 0000 004';
      element.dispatchEvent(new Event('blur'));
    });
    await shop.page.locator('#number[data-field~=invalid]').waitFor();
    expect(await shop.input('number').inputValue()).toBe('');
  });
});

test('a browser fills in what it has of a card', async () => {
  await using shop = await shops.current.open({ kinds: [...separate] });
  const { input } = shop;
  const attributes = (id: string) =>
    input(id).evaluate((element: HTMLInputElement) =>
      ['autocomplete', 'name', 'inputmode', 'pattern', 'type'].map((name) => element.getAttribute(name)),
    );
  expect(await attributes('number')).toEqual(['cc-number', 'cardnumber', 'numeric', null, null]);
  expect(await attributes('expiry')).toEqual(['cc-exp', 'cc-exp', 'numeric', null, null]);
  expect(await attributes('cvc')).toEqual(['cc-csc', 'cvc', 'numeric', null, null]);
  // As a browser does it: the whole value at once, in a field without the focus.
  const fill = (id: string, value: string) =>
    input(id).evaluate((element: HTMLInputElement, text) => {
      element.value = text;
      element.dispatchEvent(new Event('input', { bubbles: true }));
    }, value);
  await fill('number', '5555555555554444');
  await fill('expiry', '05/2031');
  await fill('cvc', '321');
  await eventuallyEqual(() => input('number').inputValue(), '5555 5555 5555 4444');
  await eventuallyEqual(() => input('expiry').inputValue(), '05 / 2031');
  await eventuallyEqual(() => lastOf(shop, 'number'), {
    empty: false,
    complete: true,
    brand: 'mastercard',
    last4: '4444',
  });
  await fill('expiry', '2032-01');
  await eventuallyEqual(() => input('expiry').inputValue(), '01 / 2032');
});

test('a field is invalid once it is left incomplete, not while somebody types', async () => {
  await using shop = await shops.current.open({ kinds: ['number', 'expiry'] });
  const { page, input } = shop;
  const isInvalid = async () => [
    await input('number').getAttribute('aria-invalid'),
    (await page.locator('#number').getAttribute('data-field'))?.includes('invalid'),
  ];
  await input('number').click();
  await page.keyboard.type('4242424242424241', { delay });
  await eventuallyEqual(isInvalid, [null, false]);
  await page.keyboard.press('Tab');
  await eventuallyEqual(isInvalid, ['true', true]);
  await pressUntilIn(shop, 'Shift+Tab', 'number');
  await eventuallyEqual(isInvalid, ['true', true]);
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await eventuallyEqual(isInvalid, [null, false]);
  await page.keyboard.type('2', { delay });
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await eventuallyEqual(isInvalid, [null, false]);
  expect(await input('expiry').getAttribute('aria-invalid')).toBeNull();
});

test('a security code has as many digits as the network of the number beside it prints, also when the number changes', async () => {
  await using shop = await shops.current.open({ kinds: [...separate] });
  const { page, input } = shop;
  const last = async () => (await shop.eventsOf('cvc')).findLast((event) => typeof event === 'object');
  const complete = { empty: false, complete: true };
  const incomplete = { empty: false, complete: false };
  await input('cvc').click();
  await page.keyboard.type('123', { delay });
  await eventuallyEqual(last, complete);
  await input('number').fill('3782');
  await eventuallyEqual(last, incomplete);
  await input('cvc').focus();
  await input('cvc').blur();
  await eventuallyEqual(() => input('cvc').getAttribute('aria-invalid'), 'true');
  await input('number').fill('4242424242424242');
  await eventuallyEqual(last, complete);
  await eventuallyEqual(() => input('cvc').getAttribute('aria-invalid'), null);
  await input('number').fill('378282246310005');
  await input('expiry').fill('12/30');
  const failure = await page.evaluate(() => window.shop.tokenize().catch((error) => error.fields));
  expect(failure).toEqual(['cvc']);
  await input('cvc').fill('1234');
  await page.evaluate(() => window.shop.tokenize());
  const data = { number: '378282246310005', expiration_month: 12, expiration_year: 2030, cvc: '1234' };
  expect(shops.current.vault.asked).toMatchObject([{ body: { data } }]);
});

test('a code that the network of a number typed later makes wrong is marked, in one field and in several', async () => {
  await using shop = await shops.current.open({ kinds: [...separate] });
  const { page, input } = shop;
  await input('cvc').click();
  await page.keyboard.type('123', { delay });
  await input('number').click();
  await page.keyboard.type('3', { delay });
  expect(await input('cvc').getAttribute('aria-invalid')).toBeNull();
  await page.keyboard.type('7', { delay });
  await page.locator('#cvc[data-field~=invalid]').waitFor();
  await page.keyboard.press('Backspace');
  await page.locator('#cvc:not([data-field~=invalid])').waitFor();
});

test('a code that the network of a number typed later makes wrong is marked in a whole card', async () => {
  await using shop = await shops.current.open({ kinds: ['card'] });
  const { page, input } = shop;
  await input('card', 'cvc').click();
  await page.keyboard.type('123', { delay });
  await input('card', 'number').click();
  await page.keyboard.type('37', { delay });
  await eventuallyEqual(() => input('card', 'cvc').getAttribute('aria-invalid'), 'true');
  expect(await input('card', 'number').getAttribute('aria-invalid')).toBeNull();
  await page.locator('#card[data-field~=invalid]').waitFor();
});

test('a page cannot count the keys that are pressed in a field', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  await input('number').click();
  await page.keyboard.type('4', { delay });
  await eventually('the change', async () => (await shop.eventsOf('number')).at(-1) !== 'focus');
  await page.evaluate(() => {
    const target = document.getElementById('number') as HTMLElement;
    new MutationObserver((changes) => window.events.push(['number', 'attributes', changes.length])).observe(target, {
      attributes: true,
      subtree: true,
    });
  });
  const before = await shop.eventsOf('number');
  await page.keyboard.type('24242424', { delay });
  expect(await input('number').inputValue()).toBe('4242 4242 4');
  expect(await shop.eventsOf('number')).toEqual(before);
});

/** As an input method does it: composes the text piece by piece, then commits it. */
async function compose({ page }: OpenShop, ...pieces: string[]) {
  const session = await page.context().newCDPSession(page);
  for (const text of pieces) {
    await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  }
  await session.send('Input.insertText', { text: pieces.at(-1) ?? '' });
  await session.detach();
}

test('digits of an input method become a number, also in its middle', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  await input('number').click();
  await compose(shop, '４', '４２', '４２４２４２');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242 42|');
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242| 42');
  await compose(shop, '９', '９８');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242 98|42');
  // The person gives it up.
  await compose(shop, '１', '');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242 98|42');
  await compose(shop, '０００００００００００');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242 9800 0000 0000 0|42');
  await compose(shop, '５');
  await eventuallyEqual(() => stateOf(shop, 'number'), '4242 9800 0000 0000 0|42');
});

test('a text is formatted when an input method has composed it, and the page is told then', async () => {
  await using shop = await shops.current.open({ kinds: [] });
  const { page } = shop;
  await page.evaluate(async (origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'text', className: 'field' });
    document.getElementById('form')?.append(target);
    const group = window.fields(origin, 'public-key', { application: 'app' });
    const field = group.field('text', target, { title: 'Plate', mask: 'aa-999' });
    field.on('change', (change) => window.events.push(['text', 'change', change]));
    await field.ready;
  }, shops.current.vault.origin);
  await shop.input('text').click();
  await compose(shop, 'k', 'ka', 'かな');
  await eventuallyEqual(() => stateOf(shop, 'text'), 'かな|');
  await compose(shop, '１', '１２３４');
  await eventuallyEqual(() => stateOf(shop, 'text'), 'かな-123|');
  await eventuallyEqual(() => lastOf(shop, 'text'), { empty: false, complete: true });
});

test('a month of one digit gets its zero when the field is left', async () => {
  await using shop = await shops.current.open({ kinds: ['expiry'] });
  const { page, input } = shop;
  await input('expiry').click();
  await page.keyboard.type('1130', { delay });
  await page.keyboard.press('Home');
  await page.keyboard.press('Delete');
  await eventuallyEqual(() => input('expiry').inputValue(), '1 / 30');
  await page.keyboard.press('Tab');
  await eventuallyEqual(() => input('expiry').inputValue(), '01 / 30');
});

test('a number that can still grow tells its last digits only when it is left', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  await input('number').click();
  await page.keyboard.type('620550000000000000', { delay });
  const told = async () => (await shop.eventsOf('number')).filter((event) => typeof event === 'object');
  await eventuallyEqual(told, expect.arrayContaining([{ empty: false, complete: true, brand: 'unionpay' }]));
  expect(JSON.stringify(await told())).not.toContain('last4');
  await page.keyboard.type('4', { delay });
  await eventuallyEqual(() => lastOf(shop, 'number'), {
    empty: false,
    complete: true,
    brand: 'unionpay',
    last4: '0004',
  });
});
