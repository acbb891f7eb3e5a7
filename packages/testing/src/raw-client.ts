import { connect } from 'node:net';

/** An answer as its bytes say it, with nothing taken for granted. */
export interface RawAnswer {
  status: number;
  /** Whether it ended as its own framing says. */
  isComplete: boolean;
  body: string;
}

/** Sends bytes over a connection of its own, and reads until the answer is whole, the end, or `waitMs`. */
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
      if (readRaw(received).isComplete) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(readRaw(received));
    });
  });
}

/** Sends the pieces 50 ms apart, and returns everything received until the server closes. */
export function exchangeRaw(port: number, ...pieces: string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = '';
  const socket = connect(port, '127.0.0.1');
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {}); // the server may reset the connection after the answer
  socket.on('close', () => resolve(received));
  pieces.forEach((piece, index) => {
    setTimeout(() => socket.write(piece), 50 * index);
  });
  return promise;
}

/** A POST with a body of JSON. */
export function rawPost(path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries({ host: 'gateway', 'content-type': 'application/json', ...headers });
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export function readRaw(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return { status: 0, isComplete: false, body: '' };
  const head = text.slice(0, end).toLowerCase();
  const rest = text.slice(end + 4);
  const status = Number(/^http\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const body = rest.slice(0, Number(length));
    return { status, body, isComplete: body.length === Number(length) };
  }
  if (!/\r\ntransfer-encoding: chunked/.test(head)) return { status, body: rest, isComplete: false };
  return { status, ...readChunks(rest) };
}

function readChunks(text: string): { body: string; isComplete: boolean } {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return { body, isComplete: false };
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return { body, isComplete: false };
    if (size === 0) return { body, isComplete: text.startsWith('\r\n', lineEnd + 2) };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
    if (at > text.length) return { body, isComplete: false };
  }
}
