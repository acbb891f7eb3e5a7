import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectPostgres } from './connect-postgres.ts';
import { serveBytes } from './serve.ts';

export interface PoolerOptions {
  /** Whether it prepares a statement anew on a server process that lacks it, as PgBouncer does since 1.21. */
  keepsStatements: boolean;
  order: 'oldest' | 'newest';
  /** Default 3 server processes. */
  size?: number;
}

interface Message {
  type: string;
  bytes: Buffer;
}

/** Like PgBouncer, it names statements for server processes by their text. */
interface Statement {
  name: string;
  parse: Buffer;
}

interface Backend {
  socket: Duplex;
  statements: Set<string>;
  /** Answers to statements that the pooler prepared by itself, which no client waits for. */
  unasked: number;
  onMessage: (message: Message) => void;
}

const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const parseComplete = Buffer.from([0x31, 0, 0, 0, 4]);
const sslRequest = 80_877_103;

/** Hands each transaction to any free server process, as PgBouncer does. @returns the URL of the database behind it. */
export async function startTransactionPooler(
  databaseUrl: string,
  options: PoolerOptions,
  stack: AsyncDisposableStack,
): Promise<string> {
  const free = await Promise.all(Array.from({ length: options.size ?? 3 }, () => openBackend(databaseUrl, stack)));
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
  const server = await serveBytes(stack, (client) => {
    client.setNoDelay(true);
    serve(client, { ...options, acquire, release });
  });
  const url = new URL(databaseUrl);
  url.host = new URL(server).host;
  return url.href;
}

interface Serving extends PoolerOptions {
  acquire(): Promise<Backend>;
  release(backend: Backend): void;
}

function serve(client: Socket, { keepsStatements, acquire, release }: Serving): void {
  const statements = new Map<string, Statement>();
  let current: Promise<Backend> | undefined;
  let hasStarted = false;
  const read = messageReader((message) => void forward(message));
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
    if (keepsStatements && message.type === 'P') parse(backend, message);
    else if (keepsStatements && message.type === 'B') bind(backend, message);
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

  function parse(backend: Backend, { bytes }: Message): void {
    const [name, rest] = cutText(bytes.subarray(5));
    const statement = name === '' ? { name, parse: bytes } : underItsOwnName(rest);
    statements.set(name, statement);
    if (name !== '' && backend.statements.has(statement.name)) client.write(parseComplete);
    else backend.socket.write(statement.parse);
    backend.statements.add(statement.name);
  }

  function bind(backend: Backend, { bytes }: Message): void {
    const [portal, afterPortal] = cutText(bytes.subarray(5));
    const [name, rest] = cutText(afterPortal);
    const statement = statements.get(name);
    if (!statement) throw new Error(`The client has not prepared ${name}`);
    if (!backend.statements.has(statement.name)) {
      backend.unasked += 1;
      backend.statements.add(statement.name);
      backend.socket.write(statement.parse);
    }
    backend.socket.write(toMessage('B', Buffer.from(`${portal}\0${statement.name}\0`), rest));
  }
}

function underItsOwnName(rest: Buffer): Statement {
  const name = `pooler_${createHash('sha256').update(rest).digest('hex')}`.slice(0, 40);
  return { name, parse: toMessage('P', Buffer.from(`${name}\0`), rest) };
}

function toMessage(type: 'P' | 'B', ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.from([type.charCodeAt(0), 0, 0, 0, 0]);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function cutText(bytes: Buffer): [text: string, rest: Buffer] {
  const end = bytes.indexOf(0);
  return [bytes.toString('utf8', 0, end), bytes.subarray(end + 1)];
}

/** pg opens the connection and authenticates it; from then on its socket is ours. */
async function openBackend(databaseUrl: string, stack: AsyncDisposableStack): Promise<Backend> {
  const client = await connectPostgres(databaseUrl);
  client.on('error', () => undefined);
  const connection: { stream: Duplex } = Reflect.get(client, 'connection');
  const { stream: socket } = connection;
  socket.removeAllListeners('data');
  const backend: Backend = { socket, statements: new Set(), unasked: 0, onMessage: () => undefined };
  const read = messageReader((message) => {
    if (message.type === '1' && backend.unasked > 0) backend.unasked -= 1;
    else backend.onMessage(message);
  });
  socket.on('data', read);
  stack.defer(() => void socket.destroy());
  return backend;
}

/** A message is a letter, a length that counts itself (4 bytes), and the rest. */
function messageReader(onMessage: (message: Message) => void): (chunk: Buffer) => void {
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
