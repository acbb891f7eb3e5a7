import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface RawClient {
  socket: Socket;
  /** Everything received so far, as latin1. */
  text(): string;
  hasEnded(): boolean;
  isReset(): boolean;
  write(bytes: string): void;
  ended: Promise<string>;
}

export function openClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  const chunks: Buffer[] = [];
  let hasEnded = false;
  let isReset = false;
  const socket = connect(Number(port), hostname);
  const text = () => Buffer.concat(chunks).toString('latin1');
  const ended = new Promise<string>((resolve) => {
    socket.on('error', () => {
      isReset = true;
      socket.destroy();
    });
    socket.on('end', () => {
      hasEnded = true;
    });
    socket.on('close', () => {
      hasEnded = true;
      resolve(text());
    });
  });
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    socket,
    text,
    ended,
    hasEnded: () => hasEnded,
    isReset: () => isReset,
    write: (bytes) => socket.write(bytes, 'latin1'),
  };
}

export interface TalkOptions {
  /** Stops when it returns true; default: at the end of the connection. */
  until?: (text: string) => boolean;
  pauseMs?: number;
  /** Then stops with what has been received. */
  withinMs?: number;
}

/** Sends the pieces over one connection. @returns what was received. */
export async function talk(
  url: string,
  pieces: string | readonly string[],
  { until = () => false, pauseMs = 10, withinMs = 20_000 }: TalkOptions = {},
): Promise<{ text: string; hasEnded: boolean }> {
  const client = openClient(url);
  const deadline = performance.now() + withinMs;
  for (const piece of [pieces].flat()) {
    client.write(piece);
    await wait(pauseMs);
  }
  while (!client.hasEnded() && !until(client.text()) && performance.now() < deadline) await wait(5);
  const outcome = { text: client.text(), hasEnded: client.hasEnded() };
  client.socket.destroy();
  return outcome;
}

/** Sends the pieces 50 ms apart. @returns what was received until the server closed. */
export async function exchangeRaw(port: number, ...pieces: string[]): Promise<string> {
  const { text } = await talk(`http://127.0.0.1:${port}`, pieces, {
    pauseMs: pieces.length > 1 ? 50 : 0,
    withinMs: 30_000,
  });
  return text;
}
