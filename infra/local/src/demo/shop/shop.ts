import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Sluice } from '@sluice/sdk';
import { repositoryRoot } from '../../repository.ts';
import type { Credentials } from '../../stack/credentials.ts';
import { fieldsOrigin } from '../../stack/services.ts';
import { startProcessor, toText } from './processor.ts';
import { readJson, send, serve } from './serve.ts';
import { setUp } from './set-up.ts';

interface ShopOptions {
  credentials: Credentials;
  headerPrefix: string;
  stack: AsyncDisposableStack;
}

/** A shop's page with hosted fields, and its server. @returns the address that a person opens. */
export async function openShop({ credentials, headerPrefix, stack }: ShopOptions): Promise<string> {
  const processor = await startProcessor(stack);
  let answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const port = await serve(stack, (request, response) => {
    answer(request, response).catch((error: Error) => send(response, toText({ title: error.message }), json, 502));
  });
  const shopOrigin = `http://shop.localhost:${port}`;
  processor.embedIn(shopOrigin);
  const { page, proxy, backend } = await setUp({ ...processor, credentials, headerPrefix, stack, shopOrigin });
  const fields = fieldsOrigin(credentials.base_url);
  const { version, hash } = await newestLoader();
  const words = {
    fields,
    hash,
    loader: `${fields}/elements/${version}/elements.js`,
    key: page.key,
    application: page.id,
    processor: processor.origin,
  };
  const files = await readPage(words, policyFor(fields, processor.origin));
  const server = shopServer({ backend, proxyKey: proxy.key, stack });

  answer = async (request, response) => {
    const { url = '', method } = request;
    const file = files[url];
    if (method === 'GET' && file) return send(response, file.body, file.headers);
    const act = method === 'POST' ? server[url as keyof typeof server] : undefined;
    if (!act) return send(response, toText({ title: 'Not found' }), json, 404);
    const address = request.socket.remoteAddress ?? '';
    send(response, toText(await act(await readJson(request), address)), json);
  };
  return shopOrigin;
}

const json = { 'Content-Type': 'application/json' };

/** Everything that a page with hosted fields must allow, and the frame in which the demo shows the processor's page. */
function policyFor(fields: string, processor: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${fields}/elements/`,
    `frame-src ${fields}/elements/ ${processor}`,
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function readPage(words: Record<string, string>, policy: string) {
  const read = (name: string) => readFile(new URL(`../../../shop/${name}`, import.meta.url), 'utf8');
  const filled = (await read('index.html')).replace(/\{\{(\w+)\}\}/g, (_, name: string) => words[name] ?? '');
  const html = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy };
  return {
    '/': { body: filled, headers: html },
    '/shop.css': { body: await read('shop.css'), headers: { 'Content-Type': 'text/css' } },
    '/shop.js': { body: await read('shop.js'), headers: { 'Content-Type': 'text/javascript' } },
  } as Record<string, { body: string; headers: Record<string, string> }>;
}

async function newestLoader(): Promise<{ version: string; hash: string }> {
  const file = join(repositoryRoot, 'packages/elements/released/integrity.json');
  const released: Record<string, Record<string, string>> = JSON.parse(await readFile(file, 'utf8'));
  const [version = '', hashes = {}] = Object.entries(released).at(-1) ?? [];
  return { version, hash: hashes['elements.js'] ?? '' };
}

interface ServerOptions {
  backend: Sluice;
  proxyKey: string;
  stack: AsyncDisposableStack;
}

function shopServer({ backend, proxyKey, stack }: ServerOptions) {
  const paid = new Set<string>();
  const made = new Set<string>();
  stack.defer(async () => {
    for (const token of made) await backend.tokens.delete(token);
  });

  return {
    async '/pay'({ token }: Record<string, unknown>) {
      const id = String(token);
      made.add(id);
      const charge = { amount: 4200, card: `{{ ${id} }}` };
      const answered = await backend.proxy(proxyKey).fetch('', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(charge),
      });
      const body = (await answered.json()) as { card_token?: string };
      if (!answered.ok || !body.card_token) throw new Error(`The charge failed: ${toText(body)}`);
      made.add(body.card_token);
      paid.add(id);
      const steps = { 'POST /pay received': { token }, 'POST /proxy sent': charge, 'POST /proxy answered': body };
      const seen = Object.entries(steps).map(([what, value]) => `${what}\n${toText(value)}`);
      return { seen: seen.join('\n\n') };
    },

    /** For a token that was used here, and for the person who asks: a real shop would check who is signed in. */
    async '/authorize'({ nonce, token }: Record<string, unknown>, address: string) {
      if (!paid.has(String(token))) throw new Error('This card is not one of yours');
      const onlyThis = { attribute: 'id', operator: 'equals', value: String(token) } as const;
      await backend.sessions.authorize({
        nonce: String(nonce),
        fields: true,
        address,
        rules: [{ priority: 1, conditions: [onlyThis], transform: 'reveal', permissions: ['token:read'] }],
      });
      return {};
    },
  };
}
