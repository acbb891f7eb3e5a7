import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { destinationPolicy } from '@sluice/destination-policy';
import type { DestinationCall, DestinationSink, Destinations } from '../destination/index.ts';
import { type DestinationOptions, openDestinations } from '../destination/index.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];

/** For `afterEach`: what opened first closes last. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export function onClose(close: () => Promise<unknown> | unknown): void {
  closers.push(close);
}

const localPolicy = destinationPolicy({ schemes: ['http', 'https'], allow: ['loopback'], deny: [] });

export function open(options: Partial<DestinationOptions> = {}): Destinations {
  const destinations = openDestinations({
    policy: localPolicy,
    headerPrefix: 'SVC',
    headTimeoutMs: 60_000,
    connectTimeoutMs: 20_000,
    keepAliveTimeoutMs: 4000,
    maxConnectionsPerOrigin: 8,
    ...options,
  });
  onClose(() => destinations.close(50));
  return destinations;
}

interface Received {
  method: string;
  url: string;
  headers: string[];
  body: Buffer;
  port: number;
}

/** Records requests. By default it answers 200 with an empty body. */
export async function startServer(answer: RequestListener = (_, response) => response.end()) {
  const received: Received[] = [];
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const { method = '', url = '', rawHeaders: headers, socket } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks), port: socket.remotePort ?? 0 });
      answer(request, response);
    });
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  const origin = await listen(server, 'http');
  onClose(() => server.closeAllConnections());
  return { origin, received, server, connections: () => open.size };
}

/** Plays a script for each connection, counted from 0, and records the received bytes. */
export async function startScript(play: (socket: Socket, connection: number, bytes: () => string) => void) {
  const sockets: Socket[] = [];
  const texts: string[] = [];
  const server = createTcpServer((socket) => {
    const index = sockets.push(socket) - 1;
    texts[index] = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      texts[index] += chunk.toString('latin1');
    });
    play(socket, index, () => texts[index] ?? '');
  });
  const origin = await listen(server, 'http');
  onClose(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { origin, sockets, texts };
}

export async function listen(server: Server | TcpServer, scheme: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(() => new Promise((resolve) => server.close(resolve)));
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Outcome {
  status?: number;
  headers: string[];
  body: string;
  isWhole: boolean;
  error?: Error;
}

export function outcomeOf(start: (sink: DestinationSink) => DestinationCall): Promise<Outcome> {
  return new Promise((resolve) => {
    const outcome: Outcome = { headers: [], body: '', isWhole: false };
    start({
      onHead: (status, headers) => Object.assign(outcome, { status, headers }),
      onData(chunk) {
        outcome.body += chunk.toString('latin1');
        return true;
      },
      onEnd: () => resolve({ ...outcome, isWhole: true }),
      onError: (error) => resolve({ ...outcome, error }),
    });
  });
}

export function exchange(
  origin: string,
  bytes: string,
  enough: (text: string) => boolean = () => false,
): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(text));
  });
}

export function replyTo(response: ServerResponse): DestinationSink {
  return {
    onHead: (status, headers) => response.writeHead(status, headers),
    onData: (chunk) => response.write(chunk),
    onEnd: () => response.end(),
    onError(error) {
      if (response.headersSent) response.destroy();
      else response.writeHead('status' in error ? Number(error.status) : 500).end();
    },
  };
}

export async function startFront(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(serve);
  const origin = await listen(server, 'http');
  onClose(() => server.closeAllConnections());
  return origin;
}

export async function until(isTrue: () => boolean, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
