import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveHttp } from '../serve.ts';

const elements = new URL('../../../elements/', import.meta.url);
const types: Record<string, string> = { js: 'text/javascript', css: 'text/css' };

/** A request of a frame, with its headers in lower case. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** `lost` ends the connection after the request was read. */
export type Prepared = { status: number; body?: unknown; headers?: Record<string, string> } | 'lost';

export interface FieldsVault {
  /** The fields' own, beside `127.0.0.1`. */
  origin: string;
  /** Where the page's script of a version is; default: the newest. */
  scriptOf(version?: string): string;
  asked: Asked[];
  /** In place of the vault's next answers. */
  prepared: Prepared[];
  /** Who may embed, as in `frame-ancestors`. */
  allowed: string;
  /** Frames wait for it. */
  gate: Promise<unknown>;
  /** Answers to requests wait for it. */
  answerGate: Promise<unknown>;
  /** Files of the newest version, each of which is not there when it is next asked for, as at a process of another version. */
  lacking: Set<string>;
}

/**
 * Serves the newest fields as the vault does, and answers their requests so that a test sees them and can let them fail.
 * A token that is read is a card with the number 4242424242424242.
 */
export async function startFieldsVault(stack: AsyncDisposableStack): Promise<FieldsVault> {
  const { version } = JSON.parse(await readFile(new URL('package.json', elements), 'utf8')) as { version: string };
  const vault: FieldsVault = {
    origin: '',
    scriptOf: (of = version) => `${vault.origin}/elements/${of}/elements.js`,
    asked: [],
    prepared: [],
    allowed: 'http://shop.localhost:*',
    gate: Promise.resolve(),
    answerGate: Promise.resolve(),
    lacking: new Set(),
  };
  const url = await serveHttp(stack, async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://vault');
    if (pathname === '/elements/field') {
      await vault.gate;
      answerFrame(response, version, vault.allowed);
    } else if (vault.lacking.delete(pathname.slice(`/elements/${version}/`.length))) {
      response.writeHead(404).end();
    } else if (pathname.startsWith('/elements/')) {
      const file = new URL(`released/${pathname.slice('/elements/'.length)}`, elements);
      response.setHeader('Content-Type', types[pathname.split('.').at(-1) ?? ''] ?? 'text/plain');
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
      response.end(await readFile(file));
    } else await answerRequest(vault, request, response);
  });
  vault.origin = url.replace('127.0.0.1', 'fields.localhost');
  return vault;
}

function answerFrame(response: ServerResponse, version: string, allowed: string) {
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
    `require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors ${allowed}`,
  ];
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
  const at = `/elements/${version}`;
  const head = `<meta charset="utf-8"><title>Field</title><link rel="stylesheet" href="${at}/field.css">`;
  const body = `<script type="module" src="${at}/field.js"></script>`;
  response.end(
    `<!doctype html><html lang="en" data-header-prefix="SVC"><head>${head}</head><body>${body}</body></html>`,
  );
}

async function answerRequest(vault: FieldsVault, request: IncomingMessage, response: ServerResponse) {
  const { method = '', url: path = '', headers } = request;
  const body = JSON.parse((await text(request)) || '{}') as Record<string, unknown>;
  vault.asked.push({ method, path, headers, body });
  await vault.answerGate;
  const prepared = vault.prepared.shift() ?? answerOf(method, path, body);
  if (prepared === 'lost') return void request.socket.destroy();
  response.writeHead(prepared.status, { 'Content-Type': 'application/json', ...prepared.headers });
  response.end(JSON.stringify(prepared.body ?? {}));
}

function answerOf(method: string, path: string, body: Record<string, unknown>): Prepared {
  const [id, type] = ['5d0f7f2e-0a53-4f5c-9d4c-5f2a3f1b7c11', body.type ?? 'card'];
  const token = { id, type, containers: ['/pci/high/'], fingerprint: 'of all', fingerprint_expression: '{{ data }}' };
  if (path === '/sessions') return { status: 201, body: { id, session_key: 'session-key', nonce: 'nonce' } };
  if (path === '/tokens') return { status: 201, body: { ...token, data: body.data } };
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  return { status: 200, body: method === 'GET' ? { ...token, data } : token };
}
