import { eventually } from '../eventually.ts';
import { openClient } from '../raw/raw-client.ts';
import { readMessages } from '../raw/read-messages.ts';
import type { Client, ClientCall } from './client.ts';

/** Sends what a client sends, over one connection, without the client. */
export function byBytes(name: string, lines: string[], framing: 'length' | 'chunked' = 'length'): Client {
  return {
    name,
    isReal: false,
    async callTwice(call) {
      const client = openClient(call.url);
      const answers = () => readMessages(client.text()).messages;
      for (const count of [1, 2]) {
        client.write(requestOf(call, lines, framing));
        await eventually('an answer, or none', () => answers().length === count || client.hasEnded());
      }
      client.socket.destroy();
      return answers().map(({ start }) => Number(start.split(' ')[1]));
    },
  };
}

function requestOf({ url, method, headers, body }: ClientCall, lines: string[], framing: string): string {
  const { host, pathname } = new URL(url);
  const isChunked = framing === 'chunked';
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const own = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  const head = [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`, ...lines, ...own, ...(body === '' ? [] : [length])];
  const sent = body !== '' && isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return `${head.join('\r\n')}\r\n\r\n${sent}`;
}
