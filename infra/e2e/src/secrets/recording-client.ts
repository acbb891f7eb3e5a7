import { type CallOptions, sendRequest } from '@sluice/testing';
import { talk } from '@sluice/testing/raw';
import type { Finder } from './search/finder.ts';

interface Sent extends CallOptions {
  /** Names of canaries that this answer may show. */
  shows?: readonly string[];
  /** The status that must come, or what it must be. */
  is?: number | ((status: number) => boolean);
}

export const isRefusal = (status: number) => status >= 400 && status < 500;
export const isFailure = (status: number) => status >= 400;

export type RecordingClient = ReturnType<typeof recordingClient>;

/** Sends requests and keeps every answer, status line, headers and body, with what it may show. */
export function recordingClient(baseUrl: string) {
  const recorded: { request: string; bytes: Buffer; shows: readonly string[] }[] = [];
  const statuses: number[] = [];
  return {
    statuses,
    async send(method: string, path: string, { shows = [], is, ...options }: Sent = {}) {
      const response = await sendRequest(baseUrl, method, path, options).catch(
        (error: unknown) => new Response(`no answer: ${error}`, { status: 599 }),
      );
      const text = await response.text().catch((error: unknown) => `cut off: ${error}`);
      const head = Array.from(response.headers, ([name, value]) => `${name}: ${value}`).join('\n');
      const answer = `${response.status} ${response.statusText}\n${head}\n${text}`;
      const request = `${method} ${path.slice(0, 60)}: ${answer.slice(0, 200)}`;
      recorded.push({ request, bytes: Buffer.from(answer), shows });
      statuses.push(response.status);
      const isExpected = typeof is === 'function' ? is(response.status) : is === undefined || response.status === is;
      expect([request, isExpected]).toEqual([request, true]);
      return {
        text,
        // biome-ignore lint/suspicious/noExplicitAny: scenes look into bodies of every shape, and a wrong look fails the test
        get json(): any {
          return JSON.parse(text);
        },
      };
    },
    /** Sends bytes that need not be HTTP, and keeps what comes back. */
    async sendRaw(url: string, request: string): Promise<void> {
      const { text } = await talk(url, Buffer.from(request).toString('latin1'), { withinMs: 2000 });
      recorded.push({ request: 'raw', bytes: Buffer.from(text, 'latin1'), shows: [] });
    },
    searchAnswers(finder: Finder): void {
      for (const { request, bytes, shows } of recorded) finder.search('answers', request, bytes, new Set(shows));
    },
  };
}
