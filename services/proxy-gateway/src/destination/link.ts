import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Client, type Dispatcher, Pool } from 'undici';
import { type DialCallback, type DialOptions, dial, type Peer, peerOf } from './dial.ts';
import { passOverContinue } from './pass-over-continue.ts';
import { Slots } from './slots.ts';

export interface LinkOptions extends DialOptions {
  keepAliveTimeoutMs: number;
  maxConnectionsPerOrigin: number;
  maxHeadBytes: number;
  maxWaitingPerOrigin?: number;
  onRefused?: () => void;
}

export const bodyIdleTimeoutMs = 300_000;

/** The connections of one Tenant to one origin. Sockets never leave it, so no Tenant uses another's. */
export interface Link {
  readonly peer: Peer;
  readonly protocol: string;
  /** For bodies in memory. */
  readonly pool: Pool;
  /** For streamed bodies. */
  readonly agent: Agent;
  readonly slots: Slots;
  readonly maxHeadBytes: number;
  active: number;
  isClosed: boolean;
  idleSweeps: number;
}

/** A client of the pool that tells calls which socket they use. */
export class Connection extends Client {
  socket: Socket | undefined;
  expectHead: () => void = () => undefined;
  /** Responses that the socket has brought; with the first one it counts as reused. */
  answers = 0;

  override dispatch(options: Dispatcher.DispatchOptions, handler: ConnectionHandler): boolean {
    handler.connection = this;
    return super.dispatch(options, handler);
  }
}

export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection?: Connection;
}

export function openLink(origin: string, options: LinkOptions): Link {
  const url = new URL(origin);
  const peer = peerOf(url, options);
  const { maxConnectionsPerOrigin: slots, maxWaitingPerOrigin: maxWaiting = Infinity, onRefused } = options;
  return {
    peer,
    protocol: url.protocol,
    pool: openPool(origin, peer, options),
    agent: openAgent(peer, url.protocol, options),
    slots: new Slots({ slots, maxWaiting, onRefused }),
    maxHeadBytes: options.maxHeadBytes,
    active: 0,
    isClosed: false,
    idleSweeps: 0,
  };
}

function openPool(origin: string, peer: Peer, options: LinkOptions): Pool {
  const clientOptions: Client.Options = {
    allowH2: false,
    maxHeaderSize: options.maxHeadBytes,
    pipelining: 1,
    // Calls limit the time to the head themselves; equal values let undici keep one timer running
    headersTimeout: bodyIdleTimeoutMs,
    bodyTimeout: bodyIdleTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    keepAliveMaxTimeout: options.keepAliveTimeoutMs,
    keepAliveTimeoutThreshold: 1000, // ends this much earlier than the destination announces
  };
  return new Pool(origin, {
    ...clientOptions,
    connections: options.maxConnectionsPerOrigin,
    factory() {
      const connection: Connection = new Connection(origin, {
        ...clientOptions,
        connect: (_, callback) =>
          dial(peer, options, (error, socket) => {
            if (!socket) return callback(error ?? new Error('no socket'), null);
            connection.socket = socket;
            connection.expectHead = passOverContinue(socket);
            connection.answers = 0;
            callback(null, socket);
          }),
      });
      return connection;
    },
  });
}

function openAgent(peer: Peer, protocol: string, options: LinkOptions): Agent {
  const agent = new Agent({
    keepAlive: true,
    maxFreeSockets: options.maxConnectionsPerOrigin,
    timeout: options.keepAliveTimeoutMs,
    defaultPort: protocol === 'https:' ? 443 : 80,
    protocol,
  });
  agent.createConnection = (_, callback) => {
    // The declared type demands a stream even with an error
    dial(peer, options, callback as DialCallback);
    return undefined;
  };
  return agent;
}
