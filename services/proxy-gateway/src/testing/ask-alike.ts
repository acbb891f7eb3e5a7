import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Json } from '@sluice/vault';

export interface SeenAnswer {
  status: number;
  reason: string;
  /** Names and values in their order, without `Date`. */
  headers: readonly string[];
  body: string;
}

/** Values of one length that share no digit at any position, and values of other types, lengths and characters. */
export const values: readonly Json[] = [
  ...['4242424242424242', '5555555555554444', '1029384756102938'],
  ...['', 'abc', 'true', '-1e3', 'x'.repeat(40_000), 'ü'.repeat(20_000), '\u{1f600}'],
  ...['a"b\\c\n', '<a>&amp;</a>', ']]>', 'a=b&c=%20+', '\r\n--Bo-_un\r\n\r\n', '--Bo-_un--', '{{ nobody }}'],
  ...[42, 0.1, true, false, null],
  ...[[], {}, ['4', '2'], { number: '4242424242424242' }, Array(300).fill({ a: [] }), nested(100)],
];

function nested(depth: number): Json {
  let value: Json = 'x';
  for (let i = 0; i < depth; i += 1) value = i % 2 ? [value] : { number: value };
  return value;
}

export interface Question {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Sent in chunks, so that the gateway does not know its length. */
  isChunked?: boolean;
}

export async function ask({ url, headers, body, isChunked }: Question, tokens: readonly string[]): Promise<SeenAnswer> {
  const outgoing = request(`${url}/proxy`, { method: 'POST', headers: { ...headers, 'SVC-TRACE-ID': 'trace' } });
  if (isChunked) outgoing.flushHeaders();
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const hidden = (shown: string) => tokens.reduce((left, token) => left.replaceAll(token, '<token>'), shown);
  return {
    status: answer.statusCode ?? 0,
    reason: answer.statusMessage ?? '',
    headers: withoutDate(answer.rawHeaders).map(hidden),
    body: hidden(await text(answer)),
  };
}

function withoutDate(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => rawHeaders[i - (i % 2)]?.toLowerCase() !== 'date');
}

/** Returns one answer where nothing is learned from them. */
export function differing(answers: readonly SeenAnswer[]): SeenAnswer[] {
  return [...new Map(answers.map((answer) => [JSON.stringify(answer), answer])).values()];
}
