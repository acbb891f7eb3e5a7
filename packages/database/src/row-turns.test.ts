import { eventually, openTestDatabase, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { asTenant, changeRows, connectDatabase, inRowTurns, poolState, type Queryable } from './index.ts';

const size = 3;

const world = useStack(async (stack) => {
  const { db: outside, url } = await openTestDatabase(stack);
  await sql`create table things (id text primary key, changes text[] not null default '{}')`.execute(outside);
  await sql`insert into things (id) values ('one'), ('two'), ('three')`.execute(outside);
  const options = { DATABASE_URL: url, DATABASE_POOL_SIZE: size, DATABASE_WAIT_MS: 20_000 };
  return { outside, db: connectDatabase(options, { stack, onError: (error) => console.error(error) }) };
});

const add = (tx: Queryable, id: string, name: string) =>
  sql`update things set changes = changes || ${name}::text where id = ${id}`.execute(tx);

const changesOf = async (id: string) =>
  (await sql<{ changes: string[] }>`select changes from things where id = ${id}`.execute(world.current.outside)).rows[0]
    ?.changes;

/** Locks the row from elsewhere, as another process would. */
async function whileLocked(id: string, meanwhile: () => Promise<void>) {
  const lock = await world.current.outside.startTransaction().execute();
  try {
    await add(lock, id, 'never');
    await meanwhile();
  } finally {
    await lock.rollback().execute();
  }
}

const names = Array.from({ length: 30 }, (_, i) => `n${i}`);

test('of many changes of one row only the first waits in Postgres, and the rest follow in order', async () => {
  const { db, outside } = world.current;
  let changes: Promise<unknown>[] = [];
  const lock = (row: string) => ({ tenantId: 't', rows: [row] });
  await whileLocked('one', async () => {
    changes = names.map((name) => changeRows(db, lock('one'), (tx) => add(tx, 'one', name)));
    await untilLockIsAwaited(outside);
    await changeRows(db, lock('two'), (tx) => add(tx, 'two', 'served'));
    expect(poolState(db)).toMatchObject({ used: 1, waiting: 0 });
  });
  await Promise.all(changes);
  expect(await changesOf('one')).toEqual(names);
  expect(await changesOf('two')).toEqual(['served']);
});

test('the control: without turns they hold every connection', async () => {
  const { db } = world.current;
  let changes: Promise<unknown>[] = [];
  await whileLocked('three', async () => {
    changes = names.map((name) => db.transaction().execute((tx) => add(tx, 'three', name)));
    const isFull = () => poolState(db).waiting === names.length - size && poolState(db).used === size;
    await eventually('every connection is held, and the others wait', isFull);
  });
  await Promise.all(changes);
});

test('changes of several rows in any order do not wait for each other for ever, and a failure gives turns back', async () => {
  const { db } = world.current;
  const lock = (...rows: string[]) => ({ tenantId: 't', rows });
  const failing = inRowTurns(db, lock('x', 'y', 'x'), async () => {
    throw new Error('no');
  });
  const order: string[] = [];
  const rest = [lock('y', 'x'), lock('x', 'y'), lock('y'), lock('x')].map((rows, i) =>
    inRowTurns(db, rows, async () => void order.push(`${i}`)),
  );
  await expect(failing).rejects.toThrow('no');
  await Promise.all(rest);
  expect(order.sort()).toEqual(['0', '1', '2', '3']);
});

test('the row of one Tenant is not that of another', async () => {
  const { db } = world.current;
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inRowTurns(db, { tenantId: 'a', rows: ['row'] }, () => promise);
  await inRowTurns(db, { tenantId: 'b', rows: ['row'] }, async () => {});
  resolve();
  await first;
});

test('a caller that leaves while it waits changes nothing, whoever stays does, and the next is served', async () => {
  const { db } = world.current;
  const lock = { tenantId: 't', rows: ['kept', 'left'] };
  const { promise, resolve } = Promise.withResolvers<void>();
  const ran: string[] = [];
  const first = inRowTurns(db, lock, () => promise);
  const listening = new Map<string, (reason: unknown) => void>();
  const change = (name: string) =>
    asTenant(
      't',
      () => inRowTurns(db, lock, async () => void ran.push(name)),
      (leave) => {
        listening.set(name, leave);
        return () => listening.delete(name);
      },
    );
  const leaving = change('leaves');
  const staying = change('stays');
  expect([...listening.keys()]).toEqual(['leaves', 'stays']);
  listening.get('leaves')?.(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  resolve();
  await Promise.all([first, staying]);
  expect(ran).toEqual(['stays']);
  expect(listening.size).toBe(0); // nothing listens to a caller that waits no more
  await change('comes later');
  expect(ran).toEqual(['stays', 'comes later']);
});
