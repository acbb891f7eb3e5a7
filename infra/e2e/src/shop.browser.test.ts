import { openShop } from '@sluice/local/parts';
import { eventually, isFullRun, useStack } from '@sluice/testing';
import { findBarriers, type OpenPage, openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from './platform.ts';

/** Not the one that the page proposes. */
const cardNumber = '5555555555554444';
const delay = 30;

const world = useStack(async (closing) => {
  const { stack } = await sharePlatform();
  const { credentials } = stack;
  const shop = await openShop({ credentials, headerPrefix: 'SVC', stack: closing });
  const { openPage } = await openBrowser();
  const { port } = new URL(credentials.base_url);
  return { shop, openPage, vault: `http://fields.localhost:${port}` };
});

async function typeCard({ page }: OpenPage) {
  await page.getByText('Card number', { exact: true }).click();
  for (const [id, text] of [
    ['number', cardNumber],
    ['expiry', '1235'],
    ['cvc', '123'],
  ] as const) {
    await page.locator(`#${id}[data-field~=focused]`).waitFor();
    await page.keyboard.type(text, { delay });
    if (id !== 'cvc') await page.keyboard.press('Tab');
  }
}

const frameOf = ({ page }: OpenPage, id: string) => page.locator(`#${id} iframe`).contentFrame();

async function openCheckout(closing: AsyncDisposableStack, options: Parameters<typeof world.current.openPage>[1] = {}) {
  const opened = await world.current.openPage(closing, { viewport: { width: 1280, height: 656 }, ...options });
  await opened.page.goto(world.current.shop);
  await frameOf(opened, 'cvc').locator('input').waitFor();
  return opened;
}

test('a card is paid with, and only the processor has seen it; its owner looks at it again in a frame', async () => {
  await using closing = new AsyncDisposableStack();
  const opened = await openCheckout(closing);
  const { page, seen, screenshot } = opened;
  await screenshot('shop-empty');
  await typeCard(opened);
  await page.getByLabel('As your page sees it').check();
  await screenshot('shop-blind');
  await page.getByLabel('As your page sees it').uncheck();
  await page.getByRole('button', { name: 'Pay €42.00' }).click();
  await page.getByText('Paid, card ending in 4444').waitFor();
  const received = page.frameLocator('#processor');
  await received.getByText(cardNumber).waitFor();
  const seenByServer = () => page.locator('#server-saw').inputValue();
  await eventually('the server saw an expression', async () => (await seenByServer()).includes('{{ '));
  await frameOf(opened, 'reveal').getByRole('button').first().waitFor();
  await screenshot('shop-paid');
  await frameOf(opened, 'reveal').getByRole('button', { name: 'Show' }).click();
  await frameOf(opened, 'reveal').getByText('5555 5555 5555 4444').waitFor();
  await screenshot('shop-revealed');

  const ofPage = await page.evaluate(() => {
    const areas = [...document.querySelectorAll('textarea')].map(({ value }) => value);
    return [
      document.documentElement.outerHTML,
      JSON.stringify({ ...localStorage, ...sessionStorage }),
      ...areas,
    ].join();
  });
  expect(ofPage.replaceAll(/[ -]/g, '')).not.toContain(cardNumber);
  expect(ofPage).not.toContain('_ses_');
  expect(seen).toMatchObject({ errors: [], violations: [] });
  expect(await findBarriers(page)).toEqual([]);
});

const narrow = { width: 390, height: 1480 };
const others: [name: string, Parameters<typeof world.current.openPage>[1]][] = [
  ['narrow-dark', { viewport: narrow, colorScheme: 'dark' }],
  ['dark', { colorScheme: 'dark' }],
  ['narrow', { viewport: narrow }],
];

test.each(isFullRun ? others : others.slice(0, 1))('it is as good %s', async (name, options) => {
  await using closing = new AsyncDisposableStack();
  const opened = await openCheckout(closing, options);
  await typeCard(opened);
  await opened.page.getByRole('button', { name: 'Pay €42.00' }).click();
  await opened.page.frameLocator('#processor').getByText(cardNumber).waitFor();
  await eventually(
    'the button to look at it',
    async () => (await frameOf(opened, 'reveal').getByRole('button').count()) > 0,
  );
  await opened.screenshot(`shop-${name}`);
  expect(await findBarriers(opened.page)).toEqual([]);
  const isTooWide = await opened.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  expect(isTooWide).toBe(false);
});
