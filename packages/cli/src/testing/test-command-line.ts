import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../cli.ts';

export const keys = {
  management: `svc_local_mgt_${'m'.repeat(49)}`,
  private: `svc_local_prv_${'p'.repeat(49)}`,
  public: `svc_local_pub_${'b'.repeat(49)}`,
} as const;

interface Typing {
  env?: Record<string, string>;
  stdin?: string | Buffer;
  turns?: readonly (readonly [shown: string, keyStrokes: string])[];
  isTerminal?: boolean | 'errors only';
  signal?: AbortSignal;
}

export const keyStrokes = { enter: '\r', interrupt: '\u0003', endOfInput: '\u0004', backspace: '\u007f' } as const;

export async function type(typed: readonly string[], typing: Typing = {}) {
  const { env = {}, stdin = '', turns, isTerminal = true, signal = new AbortController().signal } = typing;
  const written = { out: '', error: '', screen: '' };
  const due = [...(turns ?? [])];
  let from = 0;
  const input = Object.assign(new PassThrough(), turns ? { isTTY: true } : {});
  const output = (name: 'out' | 'error') => {
    const isShown = isTerminal === true || (isTerminal === 'errors only' && name === 'error');
    const stream = Object.assign(new PassThrough(), isShown ? { isTTY: true, columns: 80 } : {});
    return stream.on('data', (chunk) => {
      written[name] += chunk;
      written.screen += chunk;
      const [turn] = due;
      if (!turn || !written.screen.includes(turn[0], from)) return;
      due.shift();
      from = written.screen.length;
      input.write(turn[1]);
    });
  };
  if (!turns) input.end(stdin);
  const code = await run(typed, { stdin: input, stdout: output('out'), stderr: output('error'), env, signal });
  return { code, unasked: due.map(([shown]) => shown), ...written };
}

/** The list of a file for apply that a path is of. */
export function kindOf(path: string): string {
  const [, word = ''] = /^\/([a-z-]+)/.exec(path) ?? [];
  return word.replace('-', '_');
}

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answer = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };
type Service = (seen: Seen, request: IncomingMessage, response: ServerResponse) => Answer | undefined;

/** Gives scripted answers in place of the service, and records the requests. */
export async function startService(closing: AsyncDisposableStack, answer: Service) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const asked = { method, url, headers, body: await text(request) };
    seen.push(asked);
    const given = answer(asked, request, response);
    if (!given) return;
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
    response.end(given.text ?? (given.body === undefined ? '' : JSON.stringify(given.body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
