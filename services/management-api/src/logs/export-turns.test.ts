import { type ClientRequest, get } from 'node:http';
import { eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceLog } from '../testing/sequence-log.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));
const small = useStack((stack) => startTestManagement(stack, { DATABASE_POOL_SIZE: '1', DATABASE_WAIT_MS: '1000' }));

/** Postgres does not answer their pages until the lock is given back. */
async function beginTen({ db, url, tenant }: typeof api.current, stack: AsyncDisposableStack): Promise<void> {
  const { tenant_id, management_key } = tenant;
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenant_id}, 'use', 'proxy', 'p' from generate_series(1, 5000)
  `.execute(db);
  await sequenceLog(db, tenant_id);
  const { promise: over, resolve: giveBack } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLock } = Promise.withResolvers<void>();
  const holding = db.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
    await sql`lock table ledger_leaves in access exclusive mode`.execute(tx);
    onLock();
    await over;
  });
  stack.defer(() => holding);
  stack.defer(giveBack);
  await locked;
  for (let i = 0; i < 10; i++) stack.use(keepExporting(`${url}/logs/export`, management_key));
  await eventually('pages are waited for', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return rows.length > 0;
  });
}

/** Exports again whenever the service has given up waiting for Postgres, so that slow tests find it at work. */
function keepExporting(url: string, key: string): Disposable {
  let isOver = false;
  let request: ClientRequest;
  function begin(): void {
    request = get(url, { headers: { 'SVC-API-KEY': key }, agent: false });
    request.on('error', () => undefined).on('response', (response) => response.on('error', () => undefined).resume());
    request.on('close', () => {
      if (!isOver) begin();
    });
  }
  begin();
  return {
    [Symbol.dispose]() {
      isOver = true;
      request.destroy();
    },
  };
}

test('ten exports of a Tenant leave connections for the requests of others', async () => {
  await using stack = new AsyncDisposableStack();
  await beginTen(api.current, stack);
  const { send, stranger, metrics } = api.current;
  await eventually('all ten are open', async () => /^sluice_streams 10$/m.test(await metrics.metrics()));
  const many = Array.from({ length: 5 }, () => send('GET', '/applications', { key: stranger.management_key }));
  expect((await Promise.all(many)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test('the control: where there is only one connection, the exports have it', async () => {
  await using stack = new AsyncDisposableStack();
  await beginTen(small.current, stack);
  const { send, stranger } = small.current;
  await eventually('a request is refused', async () => {
    const { status } = await send('GET', '/applications', { key: stranger.management_key });
    return status === 503;
  });
});
