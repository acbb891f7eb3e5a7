import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Database, Tables } from './database.ts';
import { rememberPool } from './pools.ts';
import { nameStatements } from './prepared.ts';
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
  DATABASE_WAIT_MS: {
    type: 'integer',
    minimum: 100,
    maximum: 60_000,
    default: 1000,
    description: 'How long a request waits for a connection to Postgres before it is answered 503, in milliseconds',
  },
} as const;

export interface DatabaseOptions {
  DATABASE_URL: string;
  DATABASE_POOL_SIZE: number;
  DATABASE_WAIT_MS?: number;
}

export interface ConnectOptions {
  stack: AsyncDisposableStack;
  onError: OnConnectionError;
  statementTimeoutMs?: number;
}

/** For idle connections, which the pool replaces by itself. */
export type OnConnectionError = (error: Error) => void;

const { builtins } = pg.types;

/** Postgres ends a statement at its timeout. A server process that exceeds this margin hangs. */
const answerMarginMs = 500;

/** text[], which pg has no name for. */
const textArray: number = 1009;

/** int8 as number (ours stay below 2^53), timestamps as ISO 8601 strings with milliseconds, dates as text. */
const parsers = new Map<number, (text: string) => unknown>([
  [textArray, parseTextArray],
  [builtins.BYTEA, parseBytes],
  [builtins.INT8, Number],
  [builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()],
  [builtins.DATE, (text) => text],
]);

/** Permissions and containers need no quoting, so a split is enough; pg's parser reads each character. */
function parseTextArray(text: string): unknown {
  if (text === '{}') return [];
  if (text.includes('"') || text.includes('NULL')) return pg.types.getTypeParser(textArray, 'text')(text);
  return text.slice(1, -1).split(',');
}

/** Copied, because pg cuts small values out of 64 KiB pieces, which caches would keep alive with others' plaintext. */
function parseBytes(text: string): Buffer {
  const shared: Buffer = pg.types.getTypeParser(builtins.BYTEA, 'text')(text);
  const own = Buffer.alloc(shared.length);
  shared.copy(own);
  return own;
}

/** Connects at the first query and closes with the stack. */
export function connectDatabase(
  options: DatabaseOptions,
  { stack, onError, statementTimeoutMs = 10_000 }: ConnectOptions,
): Database {
  const pool = new pg.Pool({
    connectionString: options.DATABASE_URL,
    max: options.DATABASE_POOL_SIZE,
    connectionTimeoutMillis: options.DATABASE_WAIT_MS ?? databaseSettings.DATABASE_WAIT_MS.default,
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
  // Empty, because a client in use reports its error through its query, and the pool listens to idle ones.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    nameStatements(client);
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  rememberPool(db, pool);
  stack.defer(() => db.destroy());
  return db;
}

export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}
