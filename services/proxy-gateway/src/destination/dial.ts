import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { DestinationDeniedError, type DestinationPolicy } from '@sluice/destination-policy';
import { failure, givenUp, isConnectionLoss } from './failures.ts';

export interface DialOptions {
  policy: DestinationPolicy;
  lookup: LookupFunction;
  secureContext: SecureContext;
  connectTimeoutMs: number;
}

export type DialCallback = (error: Error | null, socket: Socket | null) => void;

/** Ends the attempt with an error. No effect after its outcome, because the socket may serve another call by then. */
export type GiveUp = () => void;

export interface Peer {
  readonly isSecure: boolean;
  /** An IPv6 address has no brackets here. */
  readonly host: string;
  readonly port: number;
  tlsSession: Buffer | undefined;
}

export function peerOf(origin: URL): Peer {
  const isSecure = origin.protocol === 'https:';
  const host = origin.hostname.startsWith('[') ? origin.hostname.slice(1, -1) : origin.hostname;
  const port = Number(origin.port) || (isSecure ? 443 : 80);
  return { isSecure, host, port, tlsSession: undefined };
}

/** Nothing else opens sockets to destinations. The policy checks the connected address again before the first byte. */
export function dial(peer: Peer, options: DialOptions, callback: DialCallback): GiveUp {
  const { policy, lookup, connectTimeoutMs } = options;
  const { host, port } = peer;
  // Sockets do not call `lookup` for literal addresses
  const reason = isIP(host) === 0 ? undefined : policy.whyDenied(host);
  if (reason !== undefined) {
    process.nextTick(callback, new DestinationDeniedError(host, reason), null);
    return nothingToGiveUp;
  }

  const socket = peer.isSecure ? openTls(peer, options) : connectTcp({ host, port, lookup });
  readAfterFailedWrite(socket);
  socket.setNoDelay(true).setKeepAlive(true, 60_000);

  const timer = setTimeout(
    () => socket.destroy(failure('ECONNECTTIMEOUT', `No connection to ${host}`)),
    connectTimeoutMs,
  );
  // The first listener, so that it runs before the TLS handshake
  socket.prependOnceListener('connect', () => {
    const { remoteAddress = '' } = socket;
    const denied = policy.whyDenied(remoteAddress, host);
    if (denied !== undefined) socket.destroy(new DestinationDeniedError(host, denied, remoteAddress));
  });

  let isSettled = false;
  const settle = (thrown: Error | null) => {
    isSettled = true;
    clearTimeout(timer);
    const error =
      thrown && peer.isSecure && isConnectionLoss(thrown)
        ? failure('ETLS', 'The handshake was broken off', thrown)
        : thrown;
    socket.removeListener('error', settle);
    socket.removeListener(ready, succeed);
    callback(error, error ? null : socket);
  };
  const succeed = () => {
    if (!socket.destroyed) settle(null);
  };
  const ready = peer.isSecure ? 'secureConnect' : 'connect';
  socket.once(ready, succeed);
  socket.once('error', settle);
  return () => {
    if (!isSettled && !socket.destroyed) socket.destroy(givenUp());
  };
}

export function nothingToGiveUp(): void {}

function openTls(peer: Peer, { lookup, secureContext }: DialOptions): Socket {
  const { host, port, tlsSession } = peer;
  const socket = connectTls({
    host,
    port,
    lookup,
    secureContext,
    rejectUnauthorized: true, // explicit, because the default follows NODE_TLS_REJECT_UNAUTHORIZED
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    ...(tlsSession && { session: tlsSession }),
  });
  // A resumed session skips the check of the name, but Node emits a session only after that check
  return socket.on('session', (session) => {
    peer.tlsSession = session;
  });
}

type Done = (error?: Error | null) => void;

/** After a failed write Node would destroy the socket, although an early response may still be unread in it. */
function readAfterFailedWrite(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);

  const onceRead =
    (done: Done): Done =>
    (error) => {
      const hasMore = error && isConnectionLoss(error) && !socket.readableEnded && !socket.destroyed;
      if (hasMore) socket.once('end', () => process.nextTick(done, error));
      else done(error);
    };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, onceRead(done));
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, onceRead(done));
}
