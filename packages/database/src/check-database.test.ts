import { randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { checkDatabase, connectDatabase, migrate } from './index.ts';

const database = useStack((stack) => openTestDatabase(stack));

const open = (url: string, stack: AsyncDisposableStack) =>
  connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 2 }, { stack, onError: () => {} });

async function openEmptyDatabase(stack: AsyncDisposableStack): Promise<string> {
  const { db, url } = database.current;
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await sql.raw(`create database ${name}`).execute(db);
  stack.defer(async () => {
    await sql.raw(`drop database ${name} with (force)`).execute(db);
  });
  return new URL(`/${name}`, url).href;
}

test('a database that is up to date is fine, and so is one of a later version', async () => {
  await using stack = new AsyncDisposableStack();
  const db = open(database.current.url, stack);
  await checkDatabase(db);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
  await checkDatabase(db);
  await sql`delete from kysely_migration where name = '9999-later'`.execute(db);
});

test('one without tables is not migrated, until it is', async () => {
  await using stack = new AsyncDisposableStack();
  const db = open(await openEmptyDatabase(stack), stack);
  await expect(checkDatabase(db)).rejects.toThrow(
    /^the database is not migrated \(0001-first-tables, .*\); run npm run migrate$/,
  );
  await migrate(db);
  await checkDatabase(db);
});

test('one that lacks the newest migration says which', async () => {
  await using stack = new AsyncDisposableStack();
  const db = open(await openEmptyDatabase(stack), stack);
  await migrate(db);
  await sql`delete from kysely_migration where name = '0010-token-search'`.execute(db);
  await expect(checkDatabase(db)).rejects.toThrow(
    'the database is not migrated (0010-token-search); run npm run migrate',
  );
});

test('a Postgres that is away says what to look at, and names no password', async () => {
  await using stack = new AsyncDisposableStack();
  const db = open('postgres://nobody:pw-4711@127.0.0.1:1/none', stack);
  await expect(checkDatabase(db)).rejects.toThrow(/^ECONNREFUSED: is Postgres running, and is DATABASE_URL right\?$/);
});

test('a database that does not exist is told by its code', async () => {
  await using stack = new AsyncDisposableStack();
  const db = open(new URL('/not_there', database.current.url).href, stack);
  await expect(checkDatabase(db)).rejects.toThrow('3D000: is Postgres running, and is DATABASE_URL right?');
});
