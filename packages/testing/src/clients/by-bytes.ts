import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Client, ClientCall } from './client.ts';

export function byBytes(name: string, lines: string[], framing: 'length' | 'chunked' = 'length'): Client {
  return {
    name,
    isReal: false,
    async callTwice(call) {
      const { hostname, port } = new URL(call.url);
      const socket = connect(Number(port), hostname);
      const statuses: number[] = [];
      for (let i = 0; i < 2; i++) {
        socket.write(requestOf(call, lines, framing));
        statuses.push(await readStatus(socket));
      }
      socket.destroy();
      return statuses;
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

async function readStatus(socket: Socket): Promise<number> {
  let text = '';
  while (!isWhole(text)) {
    const [chunk] = await once(socket, 'data');
    text += String(chunk);
  }
  return Number(text.split(' ', 2)[1]);
}

function isWhole(text: string): boolean {
  const [head = '', body] = text.split(/\r\n\r\n(.*)/s);
  if (body === undefined) return false;
  if (/^transfer-encoding: chunked/im.test(head)) return /(^|\r\n)0\r\n\r\n$/.test(body);
  return body.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
}
