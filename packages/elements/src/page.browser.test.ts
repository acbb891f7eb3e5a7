import { eventually, eventuallyEqual, useStack } from '@sluice/testing';
import { type OpenShop, startShops } from '@sluice/testing/browser';
import type { EntryKind, Kind } from './types.ts';

const shops = useStack(startShops);

test('mounted while hidden: it is ready, and has its height once it is shown', async () => {
  await using shop = await shops.current.open();
  const { page } = shop;
  await page.evaluate(async (origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'number', hidden: true, className: 'field' });
    document.getElementById('form')?.append(target);
    const field = window.fields(origin, 'key', { application: 'app' }).field('number', target, { title: 'Number' });
    await field.ready;
    target.hidden = false;
  }, shops.current.vault.origin);
  await eventually('the height', async () => (await page.locator('#number iframe').boundingBox())?.height === 24);
  await shop.input('number').fill('4242424242424242');
  expect(await shop.input('number').inputValue()).toBe('4242 4242 4242 4242');
});

test('mounted outside of the document: it is ready once it is there', async () => {
  await using shop = await shops.current.open();
  await shop.page.evaluate(async (origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'number' });
    const field = window.fields(origin, 'key', { application: 'app' }).field('number', target, { title: 'Number' });
    document.body.append(target);
    await field.ready;
  }, shops.current.vault.origin);
  await shop.input('number').fill('4242');
});

test('mounted twice in one target: the second takes the place of the first', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page } = shop;
  await page.evaluate(() => window.shop.field('number', '#number', { title: 'Again' }).ready);
  expect(await page.locator('#number iframe').count()).toBe(1);
  await shop.input('number').fill('4242424242424242');
  await page.evaluate(() => window.shop.tokenize());
  expect(shops.current.vault.asked).toHaveLength(1);
});

test('taken out and put back: it begins anew, and still makes a token', async () => {
  await using shop = await shops.current.open({ kinds: ['number', 'cvc'] });
  const { page, input } = shop;
  await input('number').fill('4242424242424242');
  await input('cvc').fill('123');
  await page.evaluate(() => {
    const target = document.getElementById('cvc') as HTMLElement;
    target.remove();
    document.getElementById('form')?.append(target);
  });
  await eventually('the change', async () => {
    const last = (await shop.eventsOf('cvc')).at(-1);
    return JSON.stringify(last) === '{"empty":true,"complete":false}';
  });
  const failure = await page.evaluate(() => window.shop.tokenize().catch((error) => error.fields));
  expect(failure).toEqual(['cvc']);
  await eventuallyEqual(() => input('cvc').getAttribute('aria-invalid'), 'true');
  await input('cvc').fill('321');
  await page.evaluate(() => window.shop.tokenize());
  expect(shops.current.vault.asked).toMatchObject([{ body: { data: { number: '4242424242424242', cvc: '321' } } }]);
});

test('a page that may not embed is told so after ten seconds', async () => {
  const { vault } = shops.current;
  const { allowed } = vault;
  vault.allowed = "'none'";
  await using shop = await shops.current.open();
  const { page, seen } = shop;
  await page.clock.install();
  const told = page.evaluate((origin) => {
    const target = document.body.appendChild(document.createElement('div'));
    const field = window.fields(origin, 'key', { application: 'app' }).field('number', target, { title: 'Number' });
    field.on('error', (problem) => window.events.push(['number', 'error', problem]));
    window.mounted.number = field;
    return field.ready.catch((error) => error.message);
  }, vault.origin);
  await eventually('the refusal', () => seen.errors.length > 0);
  await page.clock.runFor(10_000);
  expect(await told).toBe(
    `No response from ${vault.origin}. Check that the allowed_origins of the Application include ${shops.current.origin}`,
  );
  expect(await shop.eventsOf('number')).toEqual([{ title: await told }]);
  expect(seen.errors.join()).toContain('frame-ancestors');
  seen.errors.length = 0;
  vault.allowed = allowed;
});

test('a frame that comes late works all the same', async () => {
  const { vault } = shops.current;
  const gate = Promise.withResolvers<void>();
  vault.gate = gate.promise;
  await using shop = await shops.current.open();
  const { page } = shop;
  await page.clock.install();
  const told = page.evaluate((origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'number' });
    document.body.append(target);
    window.shop = window.fields(origin, 'key', { application: 'app' });
    return window.shop.field('number', target, { title: 'Number' }).ready.catch((error) => error.message);
  }, vault.origin);
  await page.locator('#number iframe').waitFor({ state: 'attached' });
  await page.clock.runFor(10_000);
  expect(await told).toContain('allowed_origins');
  gate.resolve();
  await shop.input('number').fill('4242424242424242');
  await page.evaluate(() => window.shop.tokenize());
  expect(vault.asked).toHaveLength(1);
});

test.each(['field.js', 'field/inputs.js', 'field/card-entries.js'])(
  'a frame that lacks %s, which another process may not have yet, is loaded again after three seconds, once',
  async (file) => {
    const { vault } = shops.current;
    vault.lacking.add(file);
    await using shop = await shops.current.open();
    const { page, seen } = shop;
    await page.clock.install();
    const told = page.evaluate((origin) => {
      const target = Object.assign(document.createElement('div'), { id: 'number' });
      document.body.append(target);
      window.shop = window.fields(origin, 'key', { application: 'app' });
      return window.shop.field('number', target, { title: 'Number' }).ready.then(() => 'ready', String);
    }, vault.origin);
    const loads = () => seen.requests.filter((url) => url.includes('/elements/field?')).length;
    await eventually('the file is missing', () => seen.errors.length > 0);
    await page.clock.runFor(3_000);
    expect(await told).toBe('ready');
    await page.clock.runFor(60_000);
    expect(loads()).toBe(2);
    expect(await page.evaluate(() => history.length)).toBe(2);
    await shop.input('number').fill('4242424242424242');
    await page.evaluate(() => window.shop.tokenize());
    expect(seen.errors.filter((text) => !text.includes('404') && !text.includes(file))).toEqual([]);
    seen.errors.length = 0;
  },
);

test.each(['require-corp', 'credentialless'])(
  'in a page that is isolated by COEP %s a card becomes a token',
  async (coep) => {
    await using shop = await shops.current.open({ isolated: coep, kinds: ['number', 'cvc'] });
    const { page, input } = shop;
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await input('number').fill('4242424242424242');
    await input('cvc').fill('123');
    await page.evaluate(() => window.shop.tokenize());
    const data = { number: '4242424242424242', cvc: '123' };
    expect(shops.current.vault.asked).toMatchObject([{ body: { data } }]);
  },
);

test('a frame asks for no permission that a browser does not know', async () => {
  await using shop = await shops.current.open({ kinds: ['card'] });
  expect(await shop.page.locator('#card iframe').getAttribute('allow')).toBe('payment; clipboard-write');
});

describe('in a shadow root', () => {
  /** Mounts fields, each in the shadow root with the given name; none is the document. */
  const mount = ({ page }: OpenShop, places: readonly (readonly [kind: EntryKind, root: string])[]) =>
    page.evaluate(
      async ({ places, origin }) => {
        const roots = new Map<string, Node>([['none', document.body]]);
        window.shop = window.fields(origin, 'key', { application: 'app' });
        const ready = [];
        for (const [kind, name] of places) {
          const host = document.createElement('div');
          const root = roots.get(name) ?? document.body.appendChild(host).attachShadow({ mode: 'open' });
          roots.set(name, root);
          const target = Object.assign(document.createElement('div'), { id: kind });
          root.appendChild(target);
          ready.push(window.shop.field(kind, target, { title: kind }).ready);
        }
        await Promise.all(ready);
      },
      { places, origin: shops.current.vault.origin },
    );

  test.each<[string, EntryKind[], object]>([
    ['a card', ['card'], { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' }],
    ['a number', ['number'], { number: '4242424242424242' }],
    [
      'number, expiry and code',
      ['cvc', 'expiry', 'number'],
      { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' },
    ],
  ])('%s becomes a token', async (_, kinds, data) => {
    await using shop = await shops.current.open();
    await mount(
      shop,
      kinds.map((kind) => [kind, 'one'] as const),
    );
    const typed = { number: '4242424242424242', expiry: '12/30', cvc: '123' };
    for (const kind of kinds) {
      for (const name of kind === 'card' ? (['number', 'expiry', 'cvc'] as const) : [kind as keyof typeof typed]) {
        await shop.input(kind, name).fill(typed[name]);
      }
    }
    await shop.page.evaluate(() => window.shop.tokenize());
    expect(shops.current.vault.asked).toMatchObject([{ body: { type: 'card', data } }]);
    await shop.page.evaluate(() => window.shop.destroy());
    expect(await shop.page.locator('iframe').count()).toBe(0);
  });

  test('the code has as many digits as the network of the number beside it prints', async () => {
    await using shop = await shops.current.open();
    await mount(shop, [
      ['number', 'one'],
      ['cvc', 'one'],
    ]);
    await shop.input('cvc').fill('123');
    await shop.input('number').fill('378282246310005');
    await shop.page.locator('#cvc[data-field~=invalid]').waitFor();
  });

  test.each([
    ['another shadow root', 'one', 'two'],
    ['the document', 'one', 'none'],
    ['a shadow root', 'none', 'one'],
  ])('a group does not reach into %s', async (_, first, second) => {
    await using shop = await shops.current.open();
    const mounted = mount(shop, [
      ['number', first],
      ['cvc', second],
    ]);
    await expect(mounted).rejects.toThrow('cvc and number must be in the same document or shadow root');
  });
});

test('several forms in a page make a token each', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  await page.evaluate(async (origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'other' });
    document.body.append(target);
    const other = window.fields(origin, 'key', { application: 'app' });
    await other.field('number', target, { title: 'Number' }).ready;
    Object.assign(window, { other });
  }, shops.current.vault.origin);
  await input('number').fill('4242424242424242');
  await input('other').fill('5555555555554444');
  await page.evaluate(() => (window as unknown as { other: typeof window.shop }).other.tokenize());
  await page.evaluate(() => window.shop.tokenize());
  expect(shops.current.vault.asked.map(({ body }) => body.data)).toEqual([
    { number: '5555555555554444' },
    { number: '4242424242424242' },
  ]);
});

test('disabled and enabled, named and dressed anew', async () => {
  await using shop = await shops.current.open({ kinds: ['number'] });
  const { page, input } = shop;
  const update = (changes: object) => page.evaluate((all) => window.mounted.number?.update(all), changes);
  await update({
    disabled: true,
    title: 'Kartennummer',
    placeholder: '0000',
    theme: { base: { color: 'rgb(1, 2, 3)' } },
  });
  await eventually('the change', () => input('number').isDisabled());
  await page.locator('#number[data-field~=disabled]').waitFor();
  await eventuallyEqual(() => page.locator('#number iframe').getAttribute('title'), 'Kartennummer');
  await eventuallyEqual(() => input('number').getAttribute('aria-label'), 'Kartennummer');
  await eventuallyEqual(() => input('number').getAttribute('placeholder'), '0000');
  const color = () => input('number').evaluate((element) => getComputedStyle(element).color);
  await eventuallyEqual(color, 'rgb(1, 2, 3)');
  await update({ disabled: false });
  await eventually('the change', () => input('number').isEnabled());
  await input('number').fill('4242424242424242');
  await page.evaluate(() => window.mounted.number?.clear());
  await eventually('the empty field', async () => (await input('number').inputValue()) === '');
});

test('focus() before the frame is there counts once it is', async () => {
  await using shop = await shops.current.open();
  await shop.page.evaluate(async (origin) => {
    const target = Object.assign(document.createElement('div'), { id: 'number' });
    document.body.append(target);
    const field = window.fields(origin, 'key', { application: 'app' }).field('number', target, { title: 'Number' });
    field.focus();
    await field.ready;
  }, shops.current.vault.origin);
  const hasFocus = () => shop.input('number').evaluate((element) => element === element.ownerDocument.activeElement);
  await eventually('the input has the focus', hasFocus);
  await shop.page.keyboard.type('4242');
  await eventuallyEqual(() => shop.input('number').inputValue(), '4242');
});

test('a group makes one token: what does not fit is refused', async () => {
  await using shop = await shops.current.open();
  const tries: [string, [kind: Kind, name?: string][]][] = [
    ['number and number cannot make one token', [['number'], ['number']]],
    ['number and card cannot make one token', [['card'], ['number']]],
    ['textname and cvc cannot make one token', [['cvc'], ['text', 'name']]],
    ['text and text cannot make one token', [['text'], ['text']]],
    [
      'texta and texta cannot make one token',
      [
        ['text', 'a'],
        ['text', 'a'],
      ],
    ],
    ['texta and text cannot make one token', [['text'], ['text', 'a']]],
    ['none', [['text', 'a'], ['text', 'b'], ['reveal'], ['reveal']]],
    ['none', [['number'], ['expiry'], ['cvc'], ['reveal']]],
  ];
  for (const [message, members] of tries) {
    const told = await shop.page.evaluate(
      ({ members, origin }) => {
        const group = window.fields(origin, 'key', { application: 'app' });
        try {
          for (const [kind, name] of members) {
            const target = document.body.appendChild(document.createElement('div'));
            group.field(kind, target, {
              title: 'A',
              token: 't',
              authorize: async () => {},
              ...(name && { name }),
            } as never);
          }
          return 'none';
        } catch (error) {
          return (error as Error).message;
        } finally {
          group.destroy();
        }
      },
      { members, origin: shops.current.vault.origin },
    );
    expect(told).toBe(message);
  }
  expect(await shop.page.locator('iframe').count()).toBe(0);
});
