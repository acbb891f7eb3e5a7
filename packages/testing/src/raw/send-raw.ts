import { connect } from 'node:net';
import { readMessages } from './read-messages.ts';

export interface RawAnswer {
  status: number;
  /** Whether it ended as its own framing says. */
  isComplete: boolean;
  body: string;
}

/** Uses its own connection. Reads until the answer is whole, the connection ends, or `waitMs` have passed. */
export function sendRaw(url: string, request: string, waitMs: number): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port) });
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(request));
    socket.on('data', (text) => {
      received += text;
      if (readAnswer(received).isComplete) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(readAnswer(received));
    });
  });
}

function readAnswer(text: string): RawAnswer {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  const [answer] = readMessages(text).messages;
  return { status, isComplete: answer !== undefined, body: answer?.body ?? '' };
}

export function rawPost(path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries({ host: 'gateway', 'content-type': 'application/json', ...headers });
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
