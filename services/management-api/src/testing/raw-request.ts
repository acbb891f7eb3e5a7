import { connect } from 'node:net';

/** Sends bytes as they are on a connection of their own, and returns all that comes back until it closes. */
export async function rawRequest(url: string, ...parts: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = Promise.withResolvers<void>();
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    received += text;
  });
  // A server may refuse a body before it has all of it; what it said before counts.
  socket.on('error', () => closed.resolve());
  socket.on('close', () => closed.resolve());
  for (const part of parts) socket.write(part);
  await closed.promise;
  return received;
}

/** The status of a raw answer; NaN where none came. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? Number.NaN);
}
