import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import pg from 'pg';

export interface PoolerOptions {
  /** Whether it prepares a statement anew where a server process does not have it, as PgBouncer does from 1.21 on. */
  keepsStatements: boolean;
  /** Which free server process the next transaction gets. */
  order: 'oldest' | 'newest';
}

interface Message {
  type: string;
  bytes: Buffer;
}

/** A server process, and which of the clients' statements it has. */
interface Backend {
  socket: Duplex;
  statements: Set<string>;
  /** Answers to what the pooler prepared by itself, which no client waits for. */
  unasked: number;
  onMessage: (message: Message) => void;
}

const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const parseComplete = Buffer.from([0x31, 0, 0, 0, 4]);
const sslRequest = 80_877_103;
const backendCount = 3;

/**
 * A pooler that hands each transaction to one of three server processes, whichever is free: real Postgres behind, so that
 * what depends on the session fails as it does behind PgBouncer.
 * @returns the URL of the database behind it.
 */
export async function startTransactionPooler(
  databaseUrl: string,
  options: PoolerOptions,
  stack: AsyncDisposableStack,
): Promise<string> {
  const free = await Promise.all(Array.from({ length: backendCount }, () => openBackend(databaseUrl, stack)));
  const waiting: ((backend: Backend) => void)[] = [];
  const acquire = async (): Promise<Backend> => {
    const backend = options.order === 'oldest' ? free.shift() : free.pop();
    return backend ?? new Promise((resolve) => waiting.push(resolve));
  };
  const release = (backend: Backend) => {
    const next = waiting.shift();
    if (next) next(backend);
    else free.push(backend);
  };
  const server = createServer({ noDelay: true }, (client) => serve(client, { ...options, acquire, release }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

interface Serving extends PoolerOptions {
  acquire(): Promise<Backend>;
  release(backend: Backend): void;
}

function serve(client: Socket, { keepsStatements, acquire, release }: Serving): void {
  const statements = new Map<string, Buffer>();
  let current: Promise<Backend> | undefined;
  let hasStarted = false;
  const read = newReader((message) => void forward(message));
  client.on('error', () => client.destroy());
  client.on('data', (chunk: Buffer) => {
    if (hasStarted) read(chunk);
    else if (chunk.readUInt32BE(4) === sslRequest) client.write('N');
    else {
      hasStarted = true;
      client.write(Buffer.concat([authenticated, ready]));
    }
  });

  async function forward(message: Message): Promise<void> {
    if (message.type === 'X') return;
    current ??= begin();
    const backend = await current;
    const name = statementOf(message);
    if (keepsStatements && name) prepare(backend, message, name);
    else backend.socket.write(message.bytes);
  }

  async function begin(): Promise<Backend> {
    const backend = await acquire();
    backend.onMessage = ({ type, bytes }) => {
      client.write(bytes);
      if (type !== 'Z' || bytes[5] !== ready[5]) return;
      current = undefined;
      release(backend);
    };
    return backend;
  }

  function prepare(backend: Backend, { type, bytes }: Message, name: string): void {
    const isKnown = backend.statements.has(name);
    backend.statements.add(name);
    if (type === 'P') {
      statements.set(name, bytes);
      if (isKnown) client.write(parseComplete);
      else backend.socket.write(bytes);
      return;
    }
    const statement = statements.get(name);
    if (!isKnown && statement) {
      backend.unasked += 1;
      backend.socket.write(statement);
    }
    backend.socket.write(bytes);
  }
}

/** The named statement that a message prepares (Parse) or uses (Bind). */
function statementOf({ type, bytes }: Message): string | undefined {
  if (type !== 'P' && type !== 'B') return undefined;
  const texts = bytes.subarray(5).toString('latin1').split('\0');
  return texts[type === 'P' ? 0 : 1];
}

/** pg opens the connection and authenticates it; from then on its socket is ours. */
async function openBackend(databaseUrl: string, stack: AsyncDisposableStack): Promise<Backend> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const connection: { stream: Duplex } = Reflect.get(client, 'connection');
  const { stream: socket } = connection;
  socket.removeAllListeners('data');
  const backend: Backend = { socket, statements: new Set(), unasked: 0, onMessage: () => undefined };
  const read = newReader((message) => {
    if (message.type === '1' && backend.unasked > 0) backend.unasked -= 1;
    else backend.onMessage(message);
  });
  socket.on('data', read);
  stack.defer(() => void socket.destroy());
  return backend;
}

/** Cuts the stream into messages: a letter, a length that counts itself, and so many bytes less four. */
function newReader(onMessage: (message: Message) => void): (chunk: Buffer) => void {
  let left: Buffer = Buffer.alloc(0);
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    while (left.length >= 5 && left.length > left.readUInt32BE(1)) {
      const end = 1 + left.readUInt32BE(1);
      onMessage({ type: String.fromCharCode(left[0] ?? 0), bytes: left.subarray(0, end) });
      left = left.subarray(end);
    }
  };
}
