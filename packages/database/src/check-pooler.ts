import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** For a named statement that a server process lacks, or has from another client. */
const lostStatementCodes = ['26000', '42P05'];

/** Connections of the steps. A pooler that passes server processes on fails at the second, third or fourth step. */
const steps = [0, 1, 0, 0, 1, 1, 0, 1] as const;

const defaultTimeoutMs = 5000;

/**
 * Two connections alternate different statements of one name, which a pooler must keep apart. No step occupies a server
 * process while it waits, so that many processes may check at once, even with a pool of one.
 */
export async function checkPooler(options: pg.ClientConfig, timeoutMs = defaultTimeoutMs): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const open = async () => {
    const client = new pg.Client({ ...options, query_timeout: timeoutMs });
    client.on('error', () => {}); // The query under way reports the error too.
    stack.defer(() => client.end());
    await client.connect();
    return client;
  };
  const clients = [await open(), await open()] as const;
  // Unique, because another process may have prepared its own on a server process that we meet.
  const name = `probe_${randomUUID()}`;
  for (const own of steps) {
    const text = `select ${own} as answer`;
    const { rows } = await clients[own].query<{ answer: number }>({ name, text }).catch(explain(timeoutMs));
    if (rows[0]?.answer !== own) throw lostStatements();
  }
}

const explain = (timeoutMs: number) => (error: unknown) => {
  if (error instanceof pg.DatabaseError && lostStatementCodes.includes(error.code ?? '')) throw lostStatements(error);
  if (error instanceof Error && error.message === 'Query read timeout') {
    const problem = `the pooler before Postgres gave no server connection within ${timeoutMs} ms`;
    throw new Error(`${problem}: raise default_pool_size`, { cause: error });
  }
  throw error;
};

function lostStatements(cause?: unknown): Error {
  return new Error(
    'the pooler before Postgres loses prepared statements: it must be PgBouncer 1.21 or newer with max_prepared_statements > 0, or pool sessions',
    { cause },
  );
}
