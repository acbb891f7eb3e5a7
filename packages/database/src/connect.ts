import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Database, Tables } from './database.ts';
import { rememberPool } from './prepared.ts';
import { watchedClient } from './watched-client.ts';

export const databaseSettings = {
  DATABASE_URL: {
    type: 'string',
    pattern: '^postgres(ql)?://',
    writeOnly: true,
    description: 'Postgres, for example postgres://user:password@localhost:5432/sluice',
  },
  DATABASE_POOL_SIZE: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 10,
    description: 'Most connections that one process opens',
  },
} as const;

export interface DatabaseOptions {
  DATABASE_URL: string;
  DATABASE_POOL_SIZE: number;
}

export interface ConnectOptions {
  stack: AsyncDisposableStack;
  onError: OnConnectionError;
  /** How long Postgres works on a statement before it gives up; 0 for as long as it takes. */
  statementTimeoutMs?: number;
  /** How long a connection may take to open. */
  connectTimeoutMs?: number;
}

/** Called with what happened to an idle connection: the pool replaces it, nothing else is needed. */
export type OnConnectionError = (error: Error) => void;

const { builtins } = pg.types;

/** Postgres ends a statement at its timeout; a server process that does not even do that hangs. */
const answerMarginMs = 500;

/** The type text[], which pg has no name for. */
const textArray: number = 1009;

/**
 * int8 as a number (ours stay below 2^53), timestamps as ISO 8601 strings with milliseconds, dates as they are, bytes in
 * memory of their own.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [textArray, parseTextArray],
  [builtins.BYTEA, parseBytes],
  [builtins.INT8, Number],
  [builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()],
  [builtins.DATE, (text) => text],
]);

/** Lists of permissions and containers hold nothing that has to be quoted; pg's own parser goes by the character. */
function parseTextArray(text: string): unknown {
  if (text === '{}') return [];
  if (text.includes('"') || text.includes('NULL')) return pg.types.getTypeParser(textArray, 'text')(text);
  return text.slice(1, -1).split(',');
}

/**
 * pg cuts small values from the 64 KiB that Node shares between buffers, among them those that hold plaintext for a
 * moment. A ciphertext that a cache keeps would keep all of that in memory.
 */
function parseBytes(text: string): Buffer {
  const shared: Buffer = pg.types.getTypeParser(builtins.BYTEA, 'text')(text);
  const own = Buffer.alloc(shared.length);
  shared.copy(own);
  return own;
}

/** Opens a pool; nothing is dialled before the first query. Ends when the stack does. */
export function connectDatabase(
  options: DatabaseOptions,
  { stack, onError, statementTimeoutMs = 10_000, connectTimeoutMs = 1000 }: ConnectOptions,
): Database {
  const pool = new pg.Pool({
    connectionString: options.DATABASE_URL,
    max: options.DATABASE_POOL_SIZE,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(statementTimeoutMs > 0 && { Client: watchedClient(statementTimeoutMs + answerMarginMs) }),
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: 'text' | 'binary') =>
        (format !== 'binary' && parsers.get(id)) || pg.types.getTypeParser(id, format),
    },
  });
  pool.on('error', onError);
  // The pool listens only to clients that are idle. One that is in use tells the query under way, or the next one.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  rememberPool(db, pool);
  stack.defer(() => db.destroy());
  return db;
}

/** Resolves when Postgres answers. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}
