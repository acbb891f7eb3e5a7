import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@sluice/database';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import type { DisclosureLogOptions } from './disclosure-log.ts';
import { type Disclosure, type DisclosureSettings, openDisclosureLog } from './index.ts';

const database = useStack((stack) => openTestDatabase(stack));

function disclosure(tenantId: string, part: Partial<Disclosure> = {}): Disclosure {
  return {
    tenantId,
    actorId: randomUUID(),
    actorType: 'application',
    traceId: 'trace',
    operation: 'read',
    entityType: 'token',
    entityId: randomUUID(),
    detail: { token_ids: ['t1', 't2'], method: 'POST' },
    ...part,
  };
}

const rowsOf = (db: Database, tenantId: string) =>
  db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenantId).orderBy('at').execute();

const entitiesOf = async (db: Database, tenantId: string) =>
  (await rowsOf(db, tenantId)).map(({ entity_id }) => entity_id).sort();

const failures: unknown[] = [];
beforeEach(() => {
  failures.length = 0;
});

interface TestOptions extends Partial<DisclosureLogOptions>, Partial<DisclosureSettings> {
  stack: AsyncDisposableStack;
}

function open({ stack, db = database.current.db, flushIntervalMs = 10, ...settings }: TestOptions) {
  const onError = (error: unknown) => void failures.push(error);
  return openDisclosureLog({ DISCLOSURE_QUEUE_LIMIT: 10_000, ...settings }, { db, stack, onError, flushIntervalMs });
}

async function openFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function whileNothingIsStored(db: Database, act: () => Promise<void>): Promise<void> {
  const lock = await db.startTransaction().execute();
  try {
    await sql`lock table audit_log`.execute(lock);
    await act();
  } finally {
    await lock.rollback().execute();
  }
}

const never = 60_000;
const refusedAtOnce = expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 });

test('writes what is recorded soon, as it was', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const tenantId = randomUUID();
  const recorded = disclosure(tenantId, { actorId: null, actorType: 'system' });
  await open({ stack }).record(recorded);
  await eventually('written', async () => (await rowsOf(db, tenantId)).length > 0);
  expect(await rowsOf(db, tenantId)).toEqual([
    {
      tenant_id: tenantId,
      id: expect.any(String),
      at: expect.any(String),
      actor_id: null,
      actor_type: 'system',
      trace_id: 'trace',
      operation: 'read',
      entity_type: 'token',
      entity_id: recorded.entityId,
      message: 'Token read',
      detail: recorded.detail,
      leaf_version: 1,
    },
  ]);
});

test('says in words that uses were refused, and that a response guard found values', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const tenantId = randomUUID();
  const log = open({ stack });
  const refusals = ['a', 'b'].map((token_id) => ({ token_id, member: 'until' }));
  const use = { operation: 'use', entityType: 'proxy' } as const;
  await log.record(disclosure(tenantId, { ...use, detail: { token_ids: [], refused: refusals } }));
  await log.record(disclosure(tenantId, { ...use, detail: { token_ids: [], refused: refusals.slice(0, 1) } }));
  for (const guard_hits of [1, 2]) {
    await log.record(disclosure(tenantId, { ...use, detail: { token_ids: ['a'], guard_hits } }));
  }
  await log.record(disclosure(tenantId, use));
  const messages = async () => (await rowsOf(db, tenantId)).map(({ message }) => message).sort();
  await eventually('written', async () => (await messages()).length === 5);
  expect(await messages()).toEqual([
    ...['Proxy used', 'Response guard found 2 values', 'Response guard found a value'],
    ...['Use of 2 tokens refused', 'Use of a token refused'],
  ]);
});

test('writes what comes between two flushes with one statement', async () => {
  const stack = new AsyncDisposableStack();
  const { db } = database.current;
  const tenantId = randomUUID();
  const flushIntervalMs = 100;
  const log = open({ stack, flushIntervalMs });
  const startedAt = performance.now();
  let recorded = 0;
  for (; performance.now() - startedAt < 5 * flushIntervalMs; recorded++) {
    await log.record(disclosure(tenantId));
    await wait(1);
  }
  const flushes = Math.floor((performance.now() - startedAt) / flushIntervalMs) + 2; // one at the edge, one on closing
  await stack.disposeAsync();
  // Each statement is a transaction, whose number is in its rows.
  const transactions = sql<string>`xmin::text`.as('transaction');
  const rows = await db.selectFrom('audit_log').select(transactions).where('tenant_id', '=', tenantId).execute();
  expect(rows).toHaveLength(recorded);
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThanOrEqual(flushes);
});

test('writes what is queued before it closes, more than one batch of it, each once', async () => {
  const stack = new AsyncDisposableStack();
  const tenantId = randomUUID();
  const log = open({ stack, flushIntervalMs: never });
  for (let i = 0; i < 2500; i++) await log.record(disclosure(tenantId, { entityId: `token-${i}` }));
  await stack.disposeAsync();
  const ids = await entitiesOf(database.current.db, tenantId);
  expect([ids.length, new Set(ids).size]).toEqual([2500, 2500]);
});

test('refuses with 503 what it cannot keep: what cannot be recorded is not disclosed', async () => {
  await using stack = new AsyncDisposableStack();
  const log = open({ stack, DISCLOSURE_QUEUE_LIMIT: 2, flushIntervalMs: never });
  await log.record(disclosure(randomUUID()));
  await log.record(disclosure(randomUUID()));
  await expect(log.record(disclosure(randomUUID()))).rejects.toEqual(refusedAtOnce);
});

test('a row that names many tokens counts as several, so that large rows do not take all memory', async () => {
  await using stack = new AsyncDisposableStack();
  const log = open({ stack, DISCLOSURE_QUEUE_LIMIT: 6, flushIntervalMs: never });
  const large = () => disclosure(randomUUID(), { detail: { token_ids: Array(100).fill('x'.repeat(36)) } });
  await log.record(large());
  await log.record(large());
  await expect(log.record(disclosure(randomUUID()))).rejects.toEqual(refusedAtOnce);
  expect(log.state()).toEqual({ waiting: 9, refused: 0 });
});

test('a Tenant has at most half of the queue: beyond, only it is refused, until Postgres has its rows', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const [one, other] = [randomUUID(), randomUUID()];
  const log = open({ stack, db, DISCLOSURE_QUEUE_LIMIT: 2000 });
  const large = disclosure(one, { detail: { token_ids: Array(100).fill('😀'.repeat(400)) } });
  let recorded = 0;
  await whileNothingIsStored(db, async () => {
    const flood = (async () => {
      for (; recorded < 100; recorded++) await log.record(large);
    })();
    await expect(flood).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 1,
      limit: 'disclosures_waiting',
    });
    await expect(log.record(disclosure(one))).rejects.toEqual(refusedAtOnce);
    for (let i = 0; i < 900; i++) await log.record(disclosure(other));
  });
  await eventually('stored', () => log.state().waiting === 0);
  await log.record(disclosure(one));
  await eventually('stored too', async () => (await rowsOf(db, one)).length === recorded + 1);
  expect(await rowsOf(db, other)).toHaveLength(900);
});

test('rows that Postgres refuses count as those of their Tenant', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const [one, other] = [randomUUID(), randomUUID()];
  await sql`alter table audit_log add constraint refuse check (entity_id <> 'poison')`.execute(db);
  const log = open({ stack, db, DISCLOSURE_QUEUE_LIMIT: 6 });
  for (let i = 0; i < 3; i++) await log.record(disclosure(one, { entityId: 'poison' }));
  await eventually('set aside', () => log.state().refused === 3);
  await expect(log.record(disclosure(one))).rejects.toEqual(refusedAtOnce);
  await log.record(disclosure(other));
  await sql`alter table audit_log drop constraint refuse`.execute(db);
  await eventually('accepted', async () => (await rowsOf(db, one)).length === 3);
  await eventually('none waits', () => log.state().waiting + log.state().refused === 0);
  await log.record(disclosure(one));
});

test('refuses what comes while it closes: nobody would write it', async () => {
  const stack = new AsyncDisposableStack();
  const tenantId = randomUUID();
  const log = open({ stack, flushIntervalMs: never });
  const before = log.record(disclosure(tenantId, { entityId: 'before' }));
  const closing = stack.disposeAsync();
  await Promise.resolve();
  await expect(log.record(disclosure(tenantId, { entityId: 'after' }))).rejects.toEqual(refusedAtOnce);
  await Promise.all([before, closing]);
  expect(await entitiesOf(database.current.db, tenantId)).toEqual(['before']);
});

test('tells of a batch that could not be written, keeps it, and writes it when that is possible again', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const tenantId = randomUUID();
  const log = open({ stack, db });
  await sql`alter table audit_log rename to elsewhere`.execute(db);
  await log.record(disclosure(tenantId));
  await eventually('told', () => failures.length > 1);
  await sql`alter table elsewhere rename to audit_log`.execute(db);
  await eventually('written', async () => (await rowsOf(db, tenantId)).length > 0);
  await log.record(disclosure(tenantId));
  await eventually('both', async () => (await rowsOf(db, tenantId)).length === 2);
});

test('a batch that was stored, which nobody heard of, is stored once', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const tenantId = randomUUID();
  let losses = 0;
  const losing = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      losses += 1;
      if (losses <= 2) throw new Error('Connection terminated unexpectedly');
      return result;
    },
  });
  const log = open({ stack, db: losing });
  await log.record(disclosure(tenantId));
  await eventually('stored, and lost', () => losses > 0);
  await log.record(disclosure(tenantId)); // sent together with the stored one
  await eventually('tried again', () => losses > 2);
  expect(await rowsOf(db, tenantId)).toHaveLength(2);
  expect(failures).toHaveLength(2);
});

test('a row that Postgres refuses holds up no other, and is stored when it is accepted', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const tenantId = randomUUID();
  const folder = await openFolder(stack);
  await sql`alter table audit_log add constraint refuse check (entity_id not like 'poison%')`.execute(db);
  const log = open({ stack, db, DISCLOSURE_QUEUE_LIMIT: 100, DISCLOSURE_SPOOL_DIRECTORY: folder });
  for (let i = 0; i < 40; i++) {
    await log.record(disclosure(tenantId, { entityId: i === 7 || i === 21 ? `poison-${i}` : `good-${i}` }));
  }
  await eventually('all others', async () => (await rowsOf(db, tenantId)).length === 38);
  expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('refuses 2 rows') })]);
  // They count as waiting, so 48 more of the Tenant fit.
  for (let i = 0; i < 48; i++) await log.record(disclosure(tenantId, { entityId: `later-${i}` }));
  await expect(log.record(disclosure(tenantId))).rejects.toEqual(refusedAtOnce);
  await eventually('the later ones', async () => (await rowsOf(db, tenantId)).length === 86);
  await sql`alter table audit_log drop constraint refuse`.execute(db);
  await eventually('all', async () => (await rowsOf(db, tenantId)).length === 88);
  expect(new Set(await entitiesOf(db, tenantId)).size).toBe(88);
});

describe('with a spool', () => {
  /** Ends without closing, like a killed process. */
  const abandoned = new AsyncDisposableStack();
  afterAll(() => abandoned.disposeAsync());
  const abandon = async (folder: string, count: number, tenantId: string) => {
    const log = open({ stack: abandoned, flushIntervalMs: never, DISCLOSURE_SPOOL_DIRECTORY: folder });
    for (let i = 0; i < count; i++) await log.record(disclosure(tenantId, { entityId: `token-${i}` }));
  };

  test('what a killed process left is written first by the next one, each row once, and the files are gone', async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = database.current;
    const folder = await openFolder(stack);
    const tenantId = randomUUID();
    await abandon(folder, 1500, tenantId);
    const copy = new Map<string, Buffer>();
    for (const name of await readdir(folder)) copy.set(name, await readFile(join(folder, name)));
    for (let replays = 0; replays < 2; replays++) {
      for (const [name, bytes] of copy) await writeFile(join(folder, name), bytes);
      const next = new AsyncDisposableStack();
      open({ stack: next, DISCLOSURE_SPOOL_DIRECTORY: folder });
      await next.disposeAsync();
      expect(await readdir(folder)).toEqual([]);
      expect(new Set(await entitiesOf(db, tenantId)).size).toBe(1500);
      expect(await rowsOf(db, tenantId)).toHaveLength(1500);
    }
    expect(failures).toEqual([]);
  });

  test('a line that was torn is skipped and told of; none beside it is lost', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openFolder(stack);
    const tenantId = randomUUID();
    await abandon(folder, 3, tenantId);
    const [name = ''] = await readdir(folder);
    const whole = await readFile(join(folder, name), 'utf8');
    const [, first, second, third = ''] = whole.split('\n');
    await writeFile(join(folder, name), `\n${first}\n${third.slice(0, 40)}\n${second}\n${third.slice(0, 70)}`);
    open({ stack, DISCLOSURE_SPOOL_DIRECTORY: folder });
    await eventually('written', async () => (await rowsOf(database.current.db, tenantId)).length === 2);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('2 lines') })]);
  });

  test('what Postgres has is dropped: the file is emptied when nothing waits, and a large one is followed by another', async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = database.current;
    const folder = await openFolder(stack);
    const tenantId = randomUUID();
    const log = open({ stack, DISCLOSURE_SPOOL_DIRECTORY: folder });
    const sizes = async () =>
      Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
    const long = { token_ids: Array.from({ length: 100 }, (_, i) => `${i}`.padStart(400, 'x')) };
    for (let i = 0; i < 80; i++) await log.record(disclosure(tenantId, { detail: long }));
    expect((await sizes()).length).toBeGreaterThan(2);
    await eventually('written', async () => (await rowsOf(db, tenantId)).length === 80);
    await eventually('dropped', async () => (await sizes()).join() === '0');
    await log.record(disclosure(tenantId));
    await eventually('written', async () => (await rowsOf(db, tenantId)).length === 81);
  });

  test('nothing is disclosed while the spool cannot be written, and again when it can', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openFolder(stack);
    const log = open({ stack, DISCLOSURE_SPOOL_DIRECTORY: join(folder, 'spool') });
    await rm(join(folder, 'spool'), { recursive: true });
    for (let i = 0; i < 20; i++) await expect(log.record(disclosure(randomUUID()))).rejects.toEqual(refusedAtOnce);
    expect(failures).toHaveLength(1);
    await mkdir(join(folder, 'spool'));
    await log.record(disclosure(randomUUID()));
  });

  test('what is recorded together is in the spool together, before anybody goes on', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openFolder(stack);
    const log = open({ stack: abandoned, flushIntervalMs: never, DISCLOSURE_SPOOL_DIRECTORY: folder });
    const linesThen: number[] = [];
    const record = async (entityId: string) => {
      await log.record(disclosure(randomUUID(), { entityId }));
      const [name = ''] = readdirSync(folder);
      linesThen.push(readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean).length);
    };
    const recorded = ['a', 'b', 'c'].map(record);
    expect(readdirSync(folder)).toEqual([]);
    await Promise.all(recorded);
    expect(linesThen).toEqual([3, 3, 3]);
  });

  test('what comes together counts towards the limit at once', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openFolder(stack);
    const limits = { DISCLOSURE_QUEUE_LIMIT: 2, DISCLOSURE_SPOOL_DIRECTORY: folder };
    const log = open({ stack, flushIntervalMs: never, ...limits });
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => log.record(disclosure(randomUUID()))));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(log.state()).toEqual({ waiting: 2, refused: 0 });
  });

  test('what a process left counts as that of its Tenants', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openFolder(stack);
    const tenantId = randomUUID();
    await abandon(folder, 3, tenantId);
    const limits = { DISCLOSURE_QUEUE_LIMIT: 6, DISCLOSURE_SPOOL_DIRECTORY: folder };
    await wait(2); // files have the names of the process and of the millisecond
    const log = open({ stack, flushIntervalMs: never, ...limits });
    await expect(log.record(disclosure(tenantId))).rejects.toMatchObject({ limit: 'disclosures_waiting' });
    await log.record(disclosure(randomUUID()));
  });

  test('a folder that cannot be had is an error of the configuration', async () => {
    await using stack = new AsyncDisposableStack();
    const file = join(await openFolder(stack), 'file');
    await writeFile(file, '');
    expect(() => open({ stack, DISCLOSURE_SPOOL_DIRECTORY: join(file, 'spool') })).toThrow('ENOTDIR');
  });
});
