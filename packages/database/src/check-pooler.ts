import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Postgres's codes for a named statement that a server process does not have, or has from another client. */
const lostStatementCodes = ['26000', '42P05'];

const mostTries = 4;
/** A pooler with a single server process would let the second transaction wait for the first. */
const queryTimeoutMs = 5000;

/**
 * Runs a named statement in two transactions on different server processes, if something in between changes them.
 * Postgres itself does not, and poolers of whole sessions do not either; a pooler of transactions does, and must prepare
 * the statement anew.
 * @throws {Error} whose message says what the pooler needs.
 */
export async function checkPooler(options: pg.ClientConfig): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const [client, other] = [await open(options, stack), await open(options, stack)];
  // A name of its own: another process may have prepared the same one on a server process that we meet.
  const probe = { name: `probe_${randomUUID()}`, text: 'select pg_backend_pid() as pid' };
  const { rows } = await client.query<{ pid: number }>(probe);
  for (let tries = 0; tries < mostTries; tries++) {
    // Poolers hand out the server process that became free first or last: either way one of the two gets another.
    await other.query('begin');
    await client.query('begin');
    const now = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const hasChanged = now.rows[0]?.pid !== rows[0]?.pid;
    if (hasChanged) await client.query(probe).catch(explain);
    for (const each of tries % 2 === 0 ? [other, client] : [client, other]) await each.query('rollback');
    if (hasChanged) return;
  }
}

async function open(options: pg.ClientConfig, stack: AsyncDisposableStack): Promise<pg.Client> {
  const client = new pg.Client({ ...options, query_timeout: queryTimeoutMs });
  client.on('error', () => {}); // the query under way is told, too
  stack.defer(() => client.end());
  await client.connect();
  return client;
}

function explain(error: unknown): never {
  if (!(error instanceof pg.DatabaseError) || !lostStatementCodes.includes(error.code ?? '')) throw error;
  throw new Error(
    'the pooler before Postgres loses prepared statements: it must be PgBouncer 1.21 or newer with max_prepared_statements > 0, or pool sessions',
    { cause: error },
  );
}
