import { talk } from './raw-client.ts';
import { readMessages } from './read-messages.ts';

export interface RawAnswer {
  status: number;
  /** Whether it ended as its own framing says. */
  isComplete: boolean;
  body: string;
}

/** Uses its own connection. Reads until the answer is whole, the connection ends, or `waitMs` have passed. */
export async function sendRaw(url: string, request: string, waitMs: number): Promise<RawAnswer> {
  const isWhole = (text: string) => readMessages(text).messages.length > 0;
  const { text } = await talk(url, request, { until: isWhole, withinMs: waitMs });
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  return { status, isComplete: isWhole(text), body: readMessages(text).messages[0]?.body ?? '' };
}

export function rawPost(path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries({ host: 'gateway', 'content-type': 'application/json', ...headers });
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
