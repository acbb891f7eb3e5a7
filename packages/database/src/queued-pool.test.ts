import { eventually, openTenantDoor, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { asTenant, type ConnectOptions, connectDatabase, type Database, poolState, prepared } from './index.ts';

const size = 4;
const [a, b, c] = ['aaaaaaaa-tenant', 'bbbbbbbb-tenant', 'cccccccc-tenant'];

const world = useStack(async (stack) => {
  const { url } = await openTestDatabase(stack);
  const door = await openTenantDoor(url, stack);
  const connect = (options: Partial<ConnectOptions> = {}, more: object = {}) =>
    connectDatabase(
      { DATABASE_URL: door.url, DATABASE_POOL_SIZE: size, DATABASE_WAIT_MS: 20_000, ...more },
      { stack, onError: (error) => console.error(error), isShared: true, ...options },
    );
  return { door, connect };
});

const echoPrepared = prepared('tenant_echo', (db, tenantId: string) =>
  db.selectNoFrom(sql<string>`${tenantId}::text`.as('id')),
);

/** By a pool's query, by a connection of its own, and in a transaction: all take turns. */
const ways: Record<string, (db: Database, tenantId: string) => Promise<unknown>> = {
  'a named statement': (db, tenantId) => echoPrepared(db, tenantId),
  'a statement': (db, tenantId) => sql`select ${tenantId}::text`.execute(db),
  'a transaction': (db, tenantId) => db.transaction().execute((tx) => sql`select ${tenantId}::text`.execute(tx)),
};

const flood = (db: Database, run: (db: Database, tenantId: string) => Promise<unknown>, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => asTenant(a, () => run(db, a))));

describe.each(Object.entries(ways))('a Tenant whose every use of %s hangs', (_name, run) => {
  test('holds half of the connections, and others are served by the other half', async () => {
    const { door, connect } = world.current;
    const db = connect();
    door.hold(a);
    const flooding = flood(db, run, 50);
    await eventually('its share is used', () => door.held() === size / 2);
    await Promise.all(Array.from({ length: 20 }, () => asTenant(b, () => run(db, b))));
    expect(poolState(db)).toMatchObject({ busiestTenant: size / 2, waiting: 50 - size / 2 });
    expect(door.held()).toBe(size / 2);
    door.release();
    expect((await flooding).map(({ status }) => status)).toEqual(Array(50).fill('fulfilled'));
    expect(poolState(db)).toMatchObject({ used: 0, waiting: 0, busiestTenant: 0 });
  });
});

test('the control: in a pool that is not shared nobody else is served', async () => {
  const { door, connect } = world.current;
  const db = connect({ isShared: false }, { DATABASE_WAIT_MS: 300 });
  const run = ways['a statement'] as (typeof ways)[string];
  door.hold(a);
  const flooding = flood(db, run, 50);
  await eventually('all connections are used', () => door.held() === size);
  await expect(run(db, b)).rejects.toMatchObject({ limit: 'database_connections' });
  door.release();
  await flooding;
});

test('two Tenants that hang hold everything, and a third takes its turn before the rest of their lines', async () => {
  const { door, connect } = world.current;
  const db = connect({}, { DATABASE_POOL_SIZE: 2 });
  const order: string[] = [];
  const use = (tenantId: string) =>
    asTenant(tenantId, async () => {
      await sql`select ${tenantId}::text, 'held-word'`.execute(db);
      order.push(tenantId);
    });
  door.hold('held-word');
  const all = [...Array(20).fill(a), ...Array(20).fill(b)].map(use);
  await eventually('both hold their share', () => door.held() === 2);
  all.push(use(c));
  door.release();
  await Promise.all(all);
  expect(order).toHaveLength(41);
  // Of the 38 that waited before it. Its own answer may be read some places later than its turn came.
  expect(order.indexOf(c)).toBeLessThan(20);
});

test('whoever waits for too long is refused, and so is the last of the Tenant with most waiting', async () => {
  const { door, connect } = world.current;
  const db = connect({}, { DATABASE_WAIT_MS: 300, DATABASE_MAX_WAITING: 5 });
  const run = ways['a statement'] as (typeof ways)[string];
  door.hold(a);
  const flooding = flood(db, run, 20);
  await eventually('its share is used', () => door.held() === size / 2);
  await eventually('all others are refused', () => poolState(db).waiting === 0);
  await expect(asTenant(a, () => run(db, a))).rejects.toMatchObject({
    code: 'ETOOBUSY',
    limit: 'database_connections',
    message: expect.stringContaining('send fewer'),
  });
  await asTenant(b, () => run(db, b));
  door.release();
  const statuses = (await flooding).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(size / 2);
});

test('a connection is given back after a statement that fails, and after one that Postgres ends', async () => {
  const { connect } = world.current;
  const db = connect({ onError: () => {} });
  const failing = [sql`select 1 / 0`, sql`select pg_terminate_backend(pg_backend_pid())`];
  const uses = Array.from({ length: 20 }, (_, i) => asTenant(a, () => failing[i % 2]?.execute(db)));
  for (const { status } of await Promise.allSettled(uses)) expect(status).toBe('rejected');
  expect(poolState(db)).toMatchObject({ waiting: 0, busiestTenant: 0 });
  // Postgres's last message may arrive before the end of its connection.
  await eventually('another connection', () =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    ),
  );
});
