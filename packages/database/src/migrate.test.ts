import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { openEmptyDatabase } from '@sluice/testing';
import { sql } from 'kysely';
import { checkDatabase, migrate } from './index.ts';
import { migrationNames } from './migrate.ts';

const before = '0011-audit-log-ids';
const after = migrationNames.slice(migrationNames.indexOf(before) + 1);

test('migrations are listed in the order of their names, by which leases say what their processes know', () => {
  expect(migrationNames).toEqual([...migrationNames].sort());
});

test('a migration waits for a long transaction, and what comes after it does not wait behind it', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: before });
  const record = () =>
    sql`insert into audit_log (tenant_id, operation, entity_type, entity_id) values (${randomUUID()}, 'test', 'test', 'test')`.execute(
      db,
    );
  const holdMs = 5000;
  let waits = 0;
  let isMigrated = false;
  const tookMs: number[] = [];
  const { promise: held, resolve: onHeld } = Promise.withResolvers<void>();

  const holding = db.transaction().execute(async (tx) => {
    await sql`lock table audit_log in row exclusive mode`.execute(tx); // as an insert does
    onHeld();
    await wait(holdMs);
    expect(isMigrated).toBe(false);
  });
  await held;
  const onWait = () => {
    waits += 1;
  };
  const migrating = migrate(db, { onWait }).then((applied) => {
    isMigrated = true;
    return applied;
  });
  while (!isMigrated) {
    const startedAt = performance.now();
    await record();
    tookMs.push(performance.now() - startedAt);
    await wait(50);
  }
  await holding;
  expect(await migrating).toEqual(after);
  expect(Math.max(...tookMs)).toBeLessThan(holdMs - 2000);
  expect(waits).toBeGreaterThan(0);
});

test('of three at once one migrates', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: before });
  const applied = await Promise.all([migrate(db), migrate(db), migrate(db)]);
  expect(applied.flat()).toEqual(after);
});

test('the version before finds a database that a later version has migrated up to date', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: before });
  const ofLater = '9999-of-a-later-version';
  await sql`insert into kysely_migration (name, timestamp) values (${ofLater}, now())`.execute(db);
  expect(await migrate(db)).toEqual(after);
  expect(await migrate(db)).toEqual([]);
  await checkDatabase(db);
  const { rows } = await sql<{ name: string }>`select name from kysely_migration where name = ${ofLater}`.execute(db);
  expect(rows).toEqual([{ name: ofLater }]);
});

test('an index that was being built ahead, and broke off, is built anew', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: '0050-blind-bytes' });
  await sql`create index tokens_unexpired on tokens (tenant_id, created_at desc, id desc) include (expires_at)`.execute(
    db,
  );
  await sql`update pg_index set indisvalid = false where indexrelid = 'tokens_unexpired'::regclass`.execute(db);
  await migrate(db);
  const { rows } = await sql`select indisvalid from pg_index where indexrelid = 'tokens_newest'::regclass`.execute(db);
  expect(rows).toEqual([{ indisvalid: true }]);
});

test('functions with the rights of the migrating role look for temporary tables last', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db);
  const { rows } = await sql<{ name: string; config: string[] | null }>`
    select proname as name, proconfig as config from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace
  `.execute(db);
  expect(rows.map(({ name }) => name)).toContain('keep_former_name');
  for (const { name, config } of rows) expect([name, config?.[0]]).toEqual([name, 'search_path=public, pg_temp']);
});
