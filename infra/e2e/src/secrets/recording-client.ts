import { connect } from 'node:net';
import type { Finder } from './search/finder.ts';

interface Sent {
  key?: string;
  /** Sent as JSON; a string goes as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Names of canaries that this answer may show. */
  shows?: readonly string[];
  /** The status that must come, or what it must be. */
  is?: number | ((status: number) => boolean);
}

export const isRefusal = (status: number) => status >= 400 && status < 500;
export const isFailure = (status: number) => status >= 400;

interface Received {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: scenes look into bodies of every shape, and a wrong look fails the test
  json: any;
}

interface Recorded {
  request: string;
  bytes: Buffer;
  shows: ReadonlySet<string>;
}

export type RecordingClient = ReturnType<typeof openClient>;

/** Sends requests and keeps every answer, status line, headers and body, with what it may show. */
export function openClient(baseUrl: string) {
  const recorded: Recorded[] = [];
  const statuses: number[] = [];
  return {
    statuses,
    async send(
      method: string,
      path: string,
      { key, body, headers = {}, shows = [], is }: Sent = {},
    ): Promise<Received> {
      const response = await fetch(baseUrl + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== undefined && { 'SVC-API-KEY': key }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }).catch((error: unknown) => new Response(`no answer: ${error}`, { status: 599 }));
      const text = await response.text().catch((error: unknown) => `cut off: ${error}`);
      const head = Array.from(response.headers, ([name, value]) => `${name}: ${value}`).join('\n');
      const answer = `${response.status} ${response.statusText}\n${head}\n${text}`;
      const request = `${method} ${path.slice(0, 60)}: ${answer.slice(0, 200)}`;
      recorded.push({ request, bytes: Buffer.from(answer), shows: new Set(shows) });
      statuses.push(response.status);
      const isExpected = typeof is === 'function' ? is(response.status) : is === undefined || response.status === is;
      expect([request, isExpected]).toEqual([request, true]);
      return { text, json: parse(text) };
    },
    /** Sends bytes that need not be HTTP, and keeps what comes back. */
    async sendRaw(url: string, request: string): Promise<void> {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), timeout: 2000 });
      socket.on('timeout', () => socket.destroy()).write(request);
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of socket) chunks.push(chunk);
      } catch (error) {
        chunks.push(Buffer.from(`no end: ${error}`));
      }
      recorded.push({ request: 'raw', bytes: Buffer.concat(chunks), shows: new Set() });
    },
    searchAnswers(finder: Finder): void {
      for (const { request, bytes, shows } of recorded) finder.search('answers', request, bytes, shows);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
