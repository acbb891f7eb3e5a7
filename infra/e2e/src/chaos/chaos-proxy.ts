import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '@sluice/local/parts';
import { createRandom } from '../random.ts';
import { type Conditions, Lane, undisturbed } from './lane.ts';

export type Direction = 'to-server' | 'to-client';
export const directions: readonly Direction[] = ['to-server', 'to-client'];

export interface ChaosProxyOptions {
  host: string;
  port: number;
  /** Where the proxy listens on 127.0.0.1; any free port if absent. */
  listenPort?: number;
  /** Of the jitter. */
  seed?: number;
}

/** A TCP proxy between any two parts that disturbs what passes. All of it can be changed while connections are open. */
export interface ChaosProxy {
  port: number;
  /** The same URL, by way of the proxy. */
  through(url: string): string;
  /** Changes conditions of one direction, or of both. Bytes that are on their way keep the latency they began with. */
  disturb(conditions: Partial<Conditions>, direction?: Direction): void;
  /** Holds what comes, of open connections and new ones; what was held is delivered by {@link calm}, in order. */
  stall(direction?: Direction): void;
  /** As if it were not there, from now on. */
  calm(): void;
  /** Resets every open connection. What was held is lost. */
  cut(): void;
  /** Refuses new connections; open ones stay. */
  refuse(): Promise<void>;
  /** Takes new connections again. */
  accept(): Promise<void>;
  /** Calls back with every chunk before it is held, delayed or delivered. Returns how to stop. */
  observe(onChunk: (seen: { direction: Direction; connection: number; chunk: Buffer }) => void): () => void;
  /** How many connections are open. */
  readonly connections: number;
  close(): Promise<void>;
}

export async function startChaosProxy({ host, port, listenPort, seed = 1 }: ChaosProxyOptions): Promise<ChaosProxy> {
  const random = createRandom(seed);
  const conditions: Record<Direction, Conditions> = {
    'to-server': { ...undisturbed },
    'to-client': { ...undisturbed },
  };
  const observers = new Set<(seen: { direction: Direction; connection: number; chunk: Buffer }) => void>();
  const pairs = new Set<{ sockets: readonly Socket[]; lanes: readonly Lane[] }>();
  let opened = 0;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host, port, allowHalfOpen: true });
    const fail = () => void client.resetAndDestroy();
    upstream.once('error', fail).once('connect', () => upstream.off('error', fail));
    opened += 1;
    const connection = opened;
    const lane = (direction: Direction, from: Socket, to: Socket) =>
      new Lane({
        from,
        to,
        conditions: () => conditions[direction],
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
    for (const { lanes } of pairs) for (const each of lanes) each.resume();
  };
  const cut = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.resetAndDestroy();
  };
  const accept = async () => {
    if (server.listening) return;
    server.listen(ownPort, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async () => {
    if (server.listening) server.close();
  };
  const ownPort = listenPort || (await freePort()); // not just any: nothing else may take it while it refuses
  await accept();

  return {
    port: ownPort,
    through(url) {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${ownPort}`;
      return changed.href;
    },
    disturb,
    stall: (direction) => disturb({ isStalled: true }, direction),
    calm: () => disturb(undisturbed),
    cut,
    refuse,
    accept,
    observe(onChunk) {
      observers.add(onChunk);
      return () => void observers.delete(onChunk);
    },
    get connections() {
      return pairs.size;
    },
    async close() {
      await refuse();
      cut();
    },
  };
}
