import { connect } from 'node:net';

export async function rawRequest(url: string, ...parts: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = Promise.withResolvers<void>();
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    received += text;
  });
  // A server may refuse a body before reading all of it; what it sent until then counts
  socket.on('error', () => closed.resolve());
  socket.on('close', () => closed.resolve());
  for (const part of parts) socket.write(part);
  await closed.promise;
  return received;
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? Number.NaN);
}
