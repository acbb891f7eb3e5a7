import type { BrowserContextOptions, FrameLocator, Locator } from 'playwright-core';
import type * as elements from '../../../elements/src/elements.ts';
import { serveHttp } from '../serve.ts';
import { type FieldsVault, startFieldsVault } from './fields-vault.ts';
import { type OpenPage, openBrowser, type TestBrowser } from './open-browser.ts';

declare global {
  /** Globals of the shop's page, which tests read. */
  interface Window {
    fields: typeof elements.fields;
    /** The first group, and its fields by the ids of their targets. */
    shop: elements.Fields;
    mounted: Record<string, elements.Field>;
    events: [id: string, name: string, event: unknown][];
    /** Gives a frame an order of the page's choice, over the port that a hostile script took. @returns its answer to a call. */
    order(id: string, message: object): Promise<{ problem?: elements.Problem; token?: elements.Token }>;
  }
}

/** The policy that a shop's page needs, and no more. */
const policyOf = (vault: string) =>
  `default-src 'none'; img-src data:; script-src 'nonce-shop' ${vault}; style-src 'nonce-shop'; frame-src ${vault}`;

const style = `
  :root { color-scheme: light dark; }
  body { margin: 24px; font: 16px/1.5 system-ui, sans-serif; background: Canvas; }
  label { display: block; margin: 16px 0 4px; font-size: 14px; }
  .field { padding: 10px 12px; border: 1px solid light-dark(#c4c7c5, #5f6368); border-radius: 8px; }
  .field[data-field~=focused] { border-color: #1a73e8; box-shadow: 0 0 0 1px #1a73e8; }
  .field[data-field~=invalid] { border-color: light-dark(#b3261e, #ffb4ab); }`;

/** A script that runs before the loader hears every message that the loader sends, and keeps the ports. */
const takePorts = `
  const ports = {};
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (data, ...more) {
    if (data?.do === 'start') ports[data.id] = this;
    return postMessage.call(this, data, ...more);
  };
  window.order = (id, message) => new Promise((resolve) => {
    const call = crypto.randomUUID();
    ports[id].addEventListener('message', ({ data }) => data.call === call && !data.nonce && resolve(data));
    postMessage.call(ports[id], { ...message, call });
  });`;

const html = (script: string) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
  <link rel="icon" href="data:,"><style nonce="shop">${style}</style>
  <script nonce="shop">${takePorts}</script>
  <script type="module" nonce="shop">
    import { fields } from '${script}';
    Object.assign(window, { fields, mounted: {}, events: [] });
  </script></head><body><main><h1>Pay</h1><div id="form"></div></main></body></html>`;

export interface Shops {
  vault: FieldsVault;
  /** Of the shop's page. */
  origin: string;
  browser: TestBrowser;
  open(options?: ShopOptions): Promise<OpenShop>;
}

export interface ShopOptions {
  /** Kinds to mount, each in a target whose id is the kind. */
  kinds?: (keyof typeof titles)[];
  theme?: elements.Theme;
  /** Of `elements.js`; default: the newest. */
  version?: string;
  /** The page's `Cross-Origin-Embedder-Policy`, with which it has memory of its own. */
  isolated?: string;
  context?: BrowserContextOptions;
}

export interface OpenShop extends OpenPage, AsyncDisposable {
  frame(id: string): FrameLocator;
  /** The input of a field, or the named one of a `card`. */
  input(id: string, name?: keyof typeof names): Locator;
  /** What the page was told by the field, without the first change, which says that it is empty. */
  eventsOf(id: string): Promise<unknown[]>;
}

const names = { number: 'cardnumber', expiry: 'cc-exp', cvc: 'cvc' };
const titles = { number: 'Card number', expiry: 'Expiry date', cvc: 'Security code', card: 'Card', text: 'Text' };

/** A shop and a vault on two hosts. */
export async function startShops(stack: AsyncDisposableStack): Promise<Shops> {
  const vault = await startFieldsVault(stack);
  const url = await serveHttp(stack, (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://shop');
    const isolated = searchParams.get('isolated');
    if (isolated) {
      response
        .setHeader('Cross-Origin-Embedder-Policy', isolated)
        .setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    }
    response.setHeader('Content-Type', 'text/html').setHeader('Content-Security-Policy', policyOf(vault.origin));
    response.end(html(vault.scriptOf(searchParams.get('version') ?? undefined)));
  });
  const shops = { vault, origin: url.replace('127.0.0.1', 'shop.localhost'), browser: await openBrowser() };
  return { ...shops, open: (options) => openShop(shops, options) };
}

/** Whatever the browser refuses or finds wrong, and every request to others, fails the test at its end. */
async function openShop({ vault, origin, browser }: Omit<Shops, 'open'>, options: ShopOptions = {}): Promise<OpenShop> {
  const stack = new AsyncDisposableStack();
  vault.asked.length = 0;
  const opened = await browser.openPage(stack, { viewport: { width: 540, height: 420 }, ...options.context });
  const { page, seen } = opened;
  stack.defer(() => {
    const beyond = opened.requestsBeyond(origin, vault.origin);
    if (seen.errors.length + seen.violations.length + beyond.length === 0) return;
    throw new Error(JSON.stringify({ errors: seen.errors, violations: seen.violations, beyond }));
  });
  const { version, isolated } = options;
  const asked = new URLSearchParams({ ...(version && { version }), ...(isolated && { isolated }) });
  await page.goto(`${origin}/?${asked}`);
  await page.waitForFunction(() => window.fields !== undefined, undefined, { polling: 100 });
  const { kinds = [], theme } = options;
  await page.evaluate(
    async ({ origin, kinds, titles, theme }) => {
      window.shop = window.fields(origin, 'public-key', { application: 'app', theme });
      for (const kind of kinds) {
        const label = Object.assign(document.createElement('label'), { textContent: titles[kind] });
        const target = Object.assign(document.createElement('div'), { id: kind, className: 'field' });
        document.getElementById('form')?.append(label, target);
        const field = window.shop.field(kind, target, { title: titles[kind], label });
        for (const name of ['focus', 'blur', 'change', 'submit', 'error'] as const) {
          field.on(name, (event) => window.events.push([kind, name, event]));
        }
        window.mounted[kind] = field;
        await field.ready;
      }
    },
    { origin: vault.origin, kinds, titles, theme },
  );
  const frame = (id: string) => page.locator(`#${id} iframe`).contentFrame();
  return {
    ...opened,
    frame,
    input: (id, name) =>
      frame(id)
        .locator(name ? `[name=${names[name]}]` : 'input')
        .first(),
    async eventsOf(id) {
      const events = await page.evaluate(() => window.events);
      return events.filter(([of]) => of === id).map(([, name, event]) => event ?? name);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
