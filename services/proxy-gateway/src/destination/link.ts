import { Agent, type ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client, type Dispatcher, Pool } from 'undici';
import { type DialCallback, type DialOptions, dial, type GiveUp, nothingToGiveUp, type Peer, peerOf } from './dial.ts';
import { givenUp } from './failures.ts';
import { passOverContinue } from './pass-over-continue.ts';
import { Slots } from './slots.ts';

export interface LinkOptions extends DialOptions {
  keepAliveTimeoutMs: number;
  maxConnectionsPerOrigin: number;
  maxHeadBytes: number;
  maxWaitingPerOrigin?: number;
  onRefused?: () => void;
}

/** Longer than the 600 s for which a Proxy may let a response head take. */
export const bodyIdleTimeoutMs = 660_000;

/** The connections of one Tenant to one origin. Sockets never leave it, so no Tenant uses another's. */
export interface Link {
  readonly peer: Peer;
  readonly protocol: string;
  /** For bodies in memory. */
  readonly pool: Pool;
  /** For streamed bodies. */
  readonly agent: StreamAgent;
  readonly slots: Slots;
  readonly maxHeadBytes: number;
  active: number;
  isClosed: boolean;
  idleSweeps: number;
}

/** A client of the pool that lets calls find out which socket they use. */
export class Connection extends Client {
  socket: Socket | undefined;
  expectHead: () => void = () => undefined;
  /** Number of responses on this socket; from the first one on it counts as reused. */
  answers = 0;
  giveUpDialling: GiveUp = nothingToGiveUp;
  /** Its only call has ended, but undici still has the request and would connect for it. */
  isGivenUp = false;

  override dispatch(options: Dispatcher.DispatchOptions, handler: ConnectionHandler): boolean {
    handler.connection = this;
    this.isGivenUp = handler.isOver;
    return super.dispatch(options, handler);
  }

  /** For a call whose request has not begun. A connection that exists already stays open. */
  giveUp(): void {
    this.isGivenUp = true;
    this.giveUpDialling();
  }
}

export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
  readonly isOver: boolean;
}

export function openLink(origin: string, options: LinkOptions): Link {
  const url = new URL(origin);
  const peer = peerOf(url);
  const { maxConnectionsPerOrigin: slots, maxWaitingPerOrigin: maxWaiting = Infinity, onRefused } = options;
  return {
    peer,
    protocol: url.protocol,
    pool: openPool(origin, peer, options),
    agent: new StreamAgent(peer, url.protocol, options),
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
    keepAliveTimeoutThreshold: 1000, // closes this much earlier than the destination announces
  };
  return new Pool(origin, {
    ...clientOptions,
    connections: options.maxConnectionsPerOrigin,
    factory() {
      const connection: Connection = new Connection(origin, {
        ...clientOptions,
        connect(_, callback) {
          if (connection.isGivenUp) {
            process.nextTick(callback, givenUp(), null);
            return;
          }
          connection.giveUpDialling = dial(peer, options, (error, socket) => {
            if (!socket) return callback(error ?? new Error('no socket'), null);
            connection.socket = socket;
            connection.expectHead = passOverContinue(socket);
            connection.answers = 0;
            callback(null, socket);
          });
        },
      });
      return connection;
    },
  });
}

class StreamAgent extends Agent {
  /** The declared types leave this method out. */
  declare addRequest: (request: ClientRequest, options: object) => void;
  readonly #dial: (callback: DialCallback) => GiveUp;
  #giveUpDialling: GiveUp = nothingToGiveUp;

  constructor(peer: Peer, protocol: string, options: LinkOptions) {
    super({
      keepAlive: true,
      maxFreeSockets: options.maxConnectionsPerOrigin,
      timeout: options.keepAliveTimeoutMs,
      defaultPort: protocol === 'https:' ? 443 : 80,
      protocol,
    });
    this.#dial = (callback) => dial(peer, options, callback);
  }

  /** Must not refer to the call or its body, nor may the options, which Node keeps with the connection. */
  send(request: ClientRequest, options: object): GiveUp {
    this.addRequest(request, { ...options, agent: this });
    const giveUp = this.#giveUpDialling;
    this.#giveUpDialling = nothingToGiveUp;
    return giveUp;
  }

  override createConnection(_: object, callback?: (error: Error | null, stream: Duplex) => void): undefined {
    // The declared type demands a stream even with an error
    this.#giveUpDialling = this.#dial(callback as DialCallback);
  }
}
