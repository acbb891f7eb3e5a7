import { readFileSync } from 'node:fs';
import { eventuallyEqual, useStack } from '@sluice/testing';
import { startShops } from '@sluice/testing/browser';

// A page runs the version of elements.js that it names, and the frames are always of the newest.

const integrity = new URL('../released/integrity.json', import.meta.url);
const versions = Object.keys(JSON.parse(readFileSync(integrity, 'utf8')) as object);
const shops = useStack(startShops);

describe.each(versions)('with elements.js %s', (version) => {
  test('a card is typed, changed and shown', async () => {
    await using shop = await shops.current.open({ version, kinds: ['number', 'expiry', 'cvc'] });
    const { page, input } = shop;
    expect(shop.seen.requests.some((url) => url.endsWith(`/elements/${version}/elements.js`))).toBe(true);
    await page.evaluate(() => window.mounted.number?.focus());
    await page.locator('#number[data-field~=focused]').waitFor();
    await page.keyboard.type('4242424242424242', { delay: 30 });
    await input('expiry').fill('12/30');
    await input('cvc').fill('123');
    await eventuallyEqual(async () => (await shop.eventsOf('number')).findLast((event) => typeof event === 'object'), {
      ...{ empty: false, complete: true, brand: 'visa', last4: '4242' },
    });
    const token = await page.evaluate(() => window.shop.tokenize({ metadata: { order: '7' } }));
    expect(token).toEqual({ id: expect.any(String), type: 'card', containers: ['/pci/high/'] });
    await page.evaluate(() => window.shop.update('a token', async () => {}));
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
    expect(shops.current.vault.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/tokens', { type: 'card', data, metadata: { order: '7' } }],
      ['/sessions', {}],
      ['/tokens/a%20token', { data }],
    ]);
    await page.evaluate(() => {
      const target = document.body.appendChild(document.createElement('div'));
      target.id = 'saved';
      const options = { title: 'Card', token: 't', authorize: async () => {} };
      return window.shop.field('reveal', target, options).ready;
    });
    await shop.frame('saved').getByRole('button', { name: 'Show' }).click();
    await shop.frame('saved').getByText('4242 4242 4242 4242').waitFor();
  });

  test('a field looks like the text around it', async () => {
    await using shop = await shops.current.open({ version });
    await shop.page.evaluate(async () => {
      const target = Object.assign(document.createElement('div'), { id: 'card' });
      target.style.cssText = 'color: rgb(1, 2, 3); font: italic 600 20px / 30px Georgia, serif';
      document.body.append(target);
      await window.shop.field('card', target, { title: 'Card' }).ready;
    });
    const look = () =>
      shop.input('card').evaluate((element) => {
        const style = getComputedStyle(element);
        return ['color', 'font-style', 'font-weight', 'font-size', 'line-height', 'font-family'].map((name) =>
          style.getPropertyValue(name),
        );
      });
    await eventuallyEqual(look, ['rgb(1, 2, 3)', 'italic', '600', '20px', '30px', 'Georgia, serif']);
  });

  test('a script that takes the ports gets no token of a security code alone', async () => {
    await using shop = await shops.current.open({ version, kinds: ['number', 'cvc'] });
    await shop.input('cvc').fill('987');
    for (const options of [{ type: 'token' }, { type: 'card' }, { type: 'card_number' }, {}]) {
      const { problem, token } = await shop.page.evaluate(
        (given) => window.order('cvc', { do: 'tokenize', fields: ['cvc'], options: given }),
        options,
      );
      expect({ problem, token }).toEqual({
        problem: { title: 'The fields are not complete', fields: ['number'] },
        token: undefined,
      });
    }
    expect(shops.current.vault.asked).toEqual([]);
  });
});
