import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Database, Queryable, Tables } from './database.ts';
import { rememberPool } from './pools.ts';
import { nameStatements } from './prepared.ts';
import { QueuedPool } from './queued-pool.ts';
import { watchedClient } from './watched-client.ts';

export const databaseSettings = {
  DATABASE_URL: {
    type: 'string',
    pattern: '^postgres(ql)?://',
    format: 'ports',
    writeOnly: true,
    description: 'URL of Postgres, such as postgres://user:password@localhost:5432/sluice',
  },
  DATABASE_POOL_SIZE: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 16,
    description:
      'Number of connections for requests in one process. They are always open, and one Tenant may use half of them. Up to five more connections serve leases and checks',
  },
  DATABASE_WAIT_MS: {
    type: 'integer',
    minimum: 100,
    maximum: 60_000,
    default: 1000,
    description:
      'Longest time for which a request waits for a free connection. If it is exceeded, the response is 503. Opening a connection may take another 5 s',
  },
  DATABASE_MAX_WAITING: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    default: 1000,
    description:
      'Limit of calls that are queued for a connection. If it is reached, the Tenant with the most queued calls gets 503',
  },
} as const;

export interface DatabaseOptions {
  DATABASE_URL: string;
  DATABASE_POOL_SIZE: number;
  DATABASE_WAIT_MS?: number;
  DATABASE_MAX_WAITING?: number;
}

export interface ConnectOptions {
  stack: AsyncDisposableStack;
  onError: OnConnectionError;
  statementTimeoutMs?: number;
  /** Whether Tenants share the pool, each with at most half of it. */
  isShared?: boolean;
  /** Limit for opening a connection: on a busy machine it takes over a second. */
  openWithinMs?: number;
}

/** For idle connections, which the pool replaces by itself. */
export type OnConnectionError = (error: Error) => void;

const { builtins } = pg.types;

/** Postgres ends a statement at its timeout. A server process that exceeds it by this margin hangs. */
const answerMarginMs = 500;

/** The type text[], for which pg has no name. */
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

/**
 * Copied, because pg cuts small values out of 64 KiB pieces, which caches would keep in memory with others' plaintext.
 */
function parseBytes(text: string): Buffer {
  const shared: Buffer = pg.types.getTypeParser(builtins.BYTEA, 'text')(text);
  const own = Buffer.alloc(shared.length);
  shared.copy(own);
  return own;
}

/**
 * A few connections for work that no Tenant's requests may delay: the readiness check, the flush of disclosures, the
 * outbox, the mailboxes of changes, the leases of runs, and counts that are written once a minute.
 */
export function connectOwn(options: DatabaseOptions, { stack, onError }: ConnectOptions): Database {
  return connectDatabase({ ...options, DATABASE_POOL_SIZE: ownConnections }, { stack, onError });
}

/**
 * The flush uses one at a time, and so do renewals; the check must find another even if Postgres answers neither flush nor
 * outbox.
 */
const ownConnections = 4;

/** Connects at the first query and closes with the stack. */
export function connectDatabase(
  options: DatabaseOptions,
  { stack, onError, statementTimeoutMs = 10_000, isShared = false, openWithinMs = 5_000 }: ConnectOptions,
): Database {
  const waitMs = options.DATABASE_WAIT_MS ?? databaseSettings.DATABASE_WAIT_MS.default;
  const mostWaiting = options.DATABASE_MAX_WAITING ?? databaseSettings.DATABASE_MAX_WAITING.default;
  const pool = new pg.Pool({
    connectionString: options.DATABASE_URL,
    max: options.DATABASE_POOL_SIZE,
    connectionTimeoutMillis: openWithinMs, // no call waits in this pool: it has a connection for each turn
    idleTimeoutMillis: 0, // otherwise the first requests after a pause would have to open connections
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
  const queued = new QueuedPool(pool, { mostWaiting, waitMs, isShared });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: queued }) });
  rememberPool(db, { pool, queued });
  stack.defer(() => db.destroy());
  return db;
}

export async function ping(db: Queryable): Promise<void> {
  await sql`select 1`.execute(db);
}

/** For a statement that commits by itself and the queries before it on the same connection. */
export function onConnection<T>(db: Database, work: (connection: Queryable) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    try {
      return await work(connection);
    } catch (error) {
      // If Postgres has ended the connection, this waits until the client knows, so that the pool does not hand it out again.
      await ping(connection).catch(() => undefined);
      throw error;
    }
  });
}
