import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '@sluice/service-runtime/free-port';
import { seededRandom } from '../random.ts';
import { testRedisUrl } from '../test-redis.ts';
import { type Conditions, Lane, undisturbed } from './lane.ts';

export type Direction = 'to-server' | 'to-client';
export const directions: readonly Direction[] = ['to-server', 'to-client'];

type Observer = (seen: { direction: Direction; connection: number; chunk: Buffer }) => void;

/** A TCP proxy before a server that disturbs what passes. All of it can be changed while connections are open. */
export interface ChaosProxy {
  /** The server's URL, by way of the proxy. */
  url: string;
  /** Changes conditions of one direction, or of both. Bytes that are on their way keep the latency they began with. */
  disturb(conditions: Partial<Conditions>, direction?: Direction): void;
  /** Holds what comes, of open connections and new ones. Returns what delivers it in order, as {@link calm} does. */
  stall(direction?: Direction): () => void;
  /** As if it were not there, from now on. */
  calm(): void;
  /** Resets every open connection. Buffered data is lost. */
  cut(): void;
  /** Refuses new connections; open ones stay. */
  refuse(): void;
  /** Refuses new connections and resets those that are open, as if the server were away. */
  shut(): Promise<void>;
  /** Takes new connections again. */
  open(): Promise<void>;
  /** Calls back with every chunk before it is buffered, delayed or delivered. Returns how to stop. */
  observe(onChunk: Observer): () => void;
  /** How many connections are open. */
  readonly connections: number;
}

export interface ChaosProxyOptions {
  /** Where the proxy listens on 127.0.0.1; any free port if absent. */
  port?: number;
  /** Of the jitter. */
  seed?: number;
}

/** Starts a proxy before the server that a URL names by host and port; it ends with the stack. */
export async function startChaosProxy(
  serverUrl: string,
  stack: AsyncDisposableStack,
  options: ChaosProxyOptions = {},
): Promise<ChaosProxy> {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port), allowHalfOpen: true };
  const random = seededRandom(options.seed ?? 1);
  const conditions = { 'to-server': { ...undisturbed }, 'to-client': { ...undisturbed } };
  const observers = new Set<Observer>();
  const pairs = new Set<{ sockets: readonly Socket[]; lanes: readonly Lane[] }>();
  let opened = 0;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(target);
    const fail = () => void client.resetAndDestroy();
    upstream.once('error', fail).once('connect', () => upstream.off('error', fail));
    opened += 1;
    const connection = opened;
    const lane = (direction: Direction, from: Socket, to: Socket) =>
      new Lane({
        from,
        to,
        conditions: conditions[direction],
        random: random.next,
        onChunk: (chunk) => {
          for (const observer of observers) observer({ direction, connection, chunk });
        },
      });
    const pair = {
      sockets: [client, upstream],
      lanes: [lane('to-server', client, upstream), lane('to-client', upstream, client)],
    };
    pairs.add(pair);
    for (const socket of pair.sockets) {
      socket.setNoDelay(true);
      socket.on('close', () => {
        if (pair.sockets.every(({ closed }) => closed)) pairs.delete(pair);
      });
    }
  });

  const disturb: ChaosProxy['disturb'] = (changed, direction) => {
    for (const one of direction ? [direction] : directions) Object.assign(conditions[one], changed);
    for (const { lanes } of pairs) for (const each of lanes) each.pump();
  };
  const cut = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.resetAndDestroy();
  };
  const open = async () => {
    if (server.listening) return;
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const shut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  const port = options.port || (await freePort()); // not just any: nothing else may take it while it refuses
  await open();
  stack.defer(shut);
  url.host = `127.0.0.1:${port}`;

  return {
    url: url.href,
    disturb,
    stall(direction) {
      disturb({ isStalled: true }, direction);
      return () => disturb({ isStalled: false }, direction);
    },
    calm: () => disturb(undisturbed),
    cut,
    refuse: () => void server.close(),
    shut,
    open,
    observe(onChunk) {
      observers.add(onChunk);
      return () => void observers.delete(onChunk);
    },
    get connections() {
      return pairs.size;
    },
  };
}

/** A way of a test's own to its Redis. */
export const openRedisDoor = (stack: AsyncDisposableStack) => startChaosProxy(testRedisUrl(), stack);
