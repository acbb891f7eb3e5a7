import { eventuallyEqual, useStack } from '@sluice/testing';
import { findBarriers, type OpenShop, startShops } from '@sluice/testing/browser';

const shops = useStack(startShops);

const kinds = ['number', 'expiry', 'cvc', 'card', 'text'] as const;
type Kind = (typeof kinds)[number];

/** For each state and kind: what is typed into its inputs. */
const states: Record<string, Record<Kind, string[]>> = {
  empty: { number: [''], expiry: [''], cvc: [''], card: ['', '', ''], text: [''] },
  invalid: { number: ['424242'], expiry: ['1220'], cvc: ['1'], card: ['4242', '1', '1'], text: ['12'] },
  complete: {
    number: ['4242424242424242'],
    expiry: ['1230'],
    cvc: ['123'],
    card: ['378282246310005', '1230', '1234'],
    text: ['123456789'],
  },
};

/** A group of its own for each field, so that all kinds stand in one page. */
async function openAll(scheme: 'light' | 'dark', width = 540): Promise<OpenShop> {
  const shop = await shops.current.open({ context: { colorScheme: scheme, viewport: { width, height: 560 } } });
  await shop.page.evaluate(
    async ({ origin, kinds }) => {
      for (const kind of kinds) {
        const label = Object.assign(document.createElement('label'), { textContent: kind });
        const target = Object.assign(document.createElement('div'), { id: kind, className: 'field' });
        document.getElementById('form')?.append(label, target);
        const group = window.fields(origin, 'key', { application: 'app' });
        const options = {
          title: kind,
          label,
          ...(kind === 'text' && { mask: '999-99-9999', placeholder: 'Social security' }),
        };
        await group.field(kind, target, options).ready;
      }
    },
    { origin: shops.current.vault.origin, kinds },
  );
  return shop;
}

async function type(shop: OpenShop, typed: Record<Kind, string[]>) {
  for (const kind of kinds) {
    const inputs = await shop.frame(kind).locator('input').all();
    for (const [at, text] of typed[kind].entries()) await inputs[at]?.pressSequentially(text);
    await inputs.at(-1)?.blur();
  }
}

test.each(['light', 'dark'] as const)('every field in every state, for everybody: %s', async (scheme) => {
  for (const [state, typed] of Object.entries(states)) {
    await using shop = await openAll(scheme);
    await type(shop, typed);
    await shop.screenshot(`fields-${scheme}-${state}`, { whole: true });
    expect(await findBarriers(shop.page)).toEqual([]);
  }
});

test.each(['light', 'dark'] as const)('every field while it has the focus: %s', async (scheme) => {
  await using shop = await openAll(scheme);
  for (const kind of kinds) {
    await shop.input(kind).focus();
    await shop.page.locator(`#${kind}`).screenshot({ path: `screenshots/field-${scheme}-${kind}-focused.png` });
  }
});

test.each(['light', 'dark'] as const)('a revealed card, for everybody: %s', async (scheme) => {
  await using shop = await shops.current.open({ context: { colorScheme: scheme } });
  await shop.page.evaluate(() => {
    const target = Object.assign(document.createElement('div'), { id: 'reveal', className: 'field' });
    document.getElementById('form')?.append(target);
    const authorize = async () => {};
    return window.shop.field('reveal', target, { title: 'Card', token: 'token', authorize }).ready;
  });
  await shop.screenshot(`reveal-${scheme}-hidden`);
  await shop.frame('reveal').getByRole('button', { name: 'Show' }).click();
  await shop.frame('reveal').getByText('12 / 30').waitFor();
  await shop.screenshot(`reveal-${scheme}-shown`);
  expect(await findBarriers(shop.page)).toEqual([]);
});

test('in a narrow page a card takes two lines, and none is wider than the page', async () => {
  await using shop = await openAll('light', 320);
  await type(shop, states.complete as Record<Kind, string[]>);
  await shop.screenshot('fields-narrow', { whole: true });
  await eventuallyEqual(() => shop.page.evaluate(() => document.documentElement.scrollWidth), 320);
  await eventuallyEqual(async () => (await shop.page.locator('#card iframe').boundingBox())?.height, 56);
});

test('a page that is dark without saying so has fields that are dark, too', async () => {
  await using shop = await shops.current.open();
  await shop.page.evaluate(async (origin) => {
    Object.assign(document.documentElement.style, { colorScheme: 'normal' });
    Object.assign(document.body.style, { background: '#101418', color: '#e6e8ea', font: '18px/1.5 Georgia, serif' });
    const target = Object.assign(document.createElement('div'), { id: 'number', className: 'field' });
    document.getElementById('form')?.append(target);
    await window.fields(origin, 'key', { application: 'app' }).field('number', target, { title: 'Number' }).ready;
  }, shops.current.vault.origin);
  await shop.screenshot('fields-dark-page');
  const seen = await shop.input('number').evaluate((input) => {
    const { color, fontFamily, fontSize, backgroundColor } = getComputedStyle(input);
    return { color, fontFamily, fontSize, backgroundColor, scheme: document.documentElement.style.colorScheme };
  });
  expect(seen).toEqual({
    color: 'rgb(230, 232, 234)',
    fontFamily: 'Georgia, serif',
    fontSize: '18px',
    backgroundColor: 'rgba(0, 0, 0, 0)',
    scheme: 'dark',
  });
});

test('the page chooses from a list of properties, and nothing that it gives loads anything', async () => {
  await using shop = await shops.current.open({
    kinds: ['number'],
    theme: {
      base: {
        color: 'rgb(10, 20, 30)',
        'letter-spacing': '2px',
        'background-color': 'url(https://elsewhere.example/pixel)',
        'font-family': '"}\n@import url(https://elsewhere.example/a.css); body {',
        padding: `calc(${'1px + '.repeat(200)}1px)`,
        ...{ position: 'fixed', content: 'attr(value)', 'background-image': 'url(https://elsewhere.example/b)' },
      },
      placeholder: { color: 'rgb(9, 9, 9)' },
      invalid: { color: 'rgb(200, 0, 0)' },
      focus: { 'background-color': 'rgb(250, 250, 200)' },
    },
  });
  await shop.input('number').focus();
  const seen = () =>
    shop.input('number').evaluate((input) => {
      const body = getComputedStyle(document.body);
      return {
        color: getComputedStyle(input).color,
        spacing: getComputedStyle(input).letterSpacing,
        placeholder: getComputedStyle(input, '::placeholder').color,
        body: [body.backgroundColor, body.padding, body.position, body.backgroundImage],
      };
    });
  await eventuallyEqual(seen, {
    color: 'rgb(10, 20, 30)',
    spacing: '2px',
    placeholder: 'rgb(9, 9, 9)',
    body: ['rgb(250, 250, 200)', '0px', 'static', 'none'],
  });
  await shop.input('number').fill('42');
  await shop.input('number').blur();
  await eventuallyEqual(
    seen,
    expect.objectContaining({ color: 'rgb(200, 0, 0)', body: ['rgba(0, 0, 0, 0)', '0px', 'static', 'none'] }),
  );
});
