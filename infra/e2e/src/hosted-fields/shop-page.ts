import { serveHttp } from '@sluice/testing';
import type { OpenPage } from '@sluice/testing/browser';
import type { fields } from '../../../../packages/elements/src/elements.ts';
import type { Field, Fields } from '../../../../packages/elements/src/types.ts';

/** What tests find in a page. Everything in it is what a hostile script in a shop's page has, too. */
interface ShopWindow {
  fields: typeof fields;
  shop: Fields;
  mounted: Record<string, Field>;
  /** Every message that a frame sent, and every one that the page did, over ports and windows. */
  heard: unknown[];
  /** Puts a frame at this address into the page, and speaks to it as the loader would. */
  speak(url: string, start: object, greet?: () => Promise<unknown>): Promise<{ port: MessagePort; said: unknown[] }>;
}

declare global {
  interface Window extends ShopWindow {}
}

/** Listens to all that the page's own scripts could hear, before any of them runs. */
const listen = `
  window.heard = [];
  addEventListener('message', ({ data }) => heard.push(data), true);
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (data, ...more) {
    heard.push(data);
    if (!this.isHeard) this.addEventListener('message', ({ data }) => heard.push(data));
    this.isHeard = true;
    return postMessage.call(this, data, ...more);
  };
  window.speak = async (url, start, greet = async () => {}) => {
    const frame = document.createElement('iframe');
    frame.src = url;
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
    await greet(frame);
    const { port1, port2 } = new MessageChannel();
    const said = [];
    port1.onmessage = ({ data }) => said.push(data);
    frame.contentWindow.postMessage('sluice', '*', [port2]);
    port1.postMessage({ do: 'start', themes: [], lang: 'en', title: 'x', ...start });
    return { port: port1, said };
  };`;

/** A page without a policy, so that nothing but the fields themselves holds its scripts back. @returns its address. */
export async function serveShop(stack: AsyncDisposableStack, loader: string): Promise<string> {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
    <link rel="icon" href="data:,"><script>${listen}</script>
    <script type="module">import { fields } from '${loader}'; window.fields = fields; document.body.dataset.loaded = '';</script>
    </head><body><div id="number"></div><div id="expiry"></div><div id="cvc"></div><div id="reveal"></div></body></html>`;
  return serveHttp(stack, (_, response) => {
    response.setHeader('Content-Type', 'text/html').end(page);
  });
}

export interface ShopSettings {
  url: string;
  vault: string;
  key: string;
  application: string;
}

/** Opens the shop with the fields of a card, all ready. */
export async function openShopPage({ page }: OpenPage, { url, vault, key, application }: ShopSettings): Promise<void> {
  await page.goto(url);
  await page.locator('body[data-loaded]').waitFor({ state: 'attached' });
  await page.evaluate(
    async (given) => {
      window.shop = window.fields(given.vault, given.key, { application: given.application });
      window.mounted = {};
      for (const kind of ['number', 'expiry', 'cvc'] as const) {
        window.mounted[kind] = window.shop.field(kind, `#${kind}`, { title: kind });
      }
      await Promise.all(Object.values(window.mounted).map(({ ready }) => ready));
    },
    { vault, key, application },
  );
}

/** As a person types, field after field. */
export async function typeCard({ page }: OpenPage, number: string): Promise<void> {
  for (const [kind, text] of [
    ['number', number],
    ['expiry', '1235'],
    ['cvc', '987'],
  ] as const) {
    await page.locator(`#${kind} iframe`).click();
    await page.locator(`#${kind}[data-field~=focused]`).waitFor();
    await page.keyboard.type(text, { delay: 30 });
  }
}
