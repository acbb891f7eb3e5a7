import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { eventually, openTenantDoor, slow, type TenantDoor, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { everything, reveal, startTestTokenVault } from './testing/test-token-vault.ts';

const poolSize = 4;

const world = useStack(async (stack) => {
  let door: TenantDoor | undefined;
  const through = async (url: string) => {
    door = await openTenantDoor(url, stack);
    return door.url;
  };
  const settings = { DATABASE_POOL_SIZE: `${poolSize}`, DATABASE_WAIT_MS: '20000' };
  const vault = await startTestTokenVault(stack, through, settings);
  if (!door) throw new Error('The service uses no door');
  const good = await vault.createApplication({ rules: [reveal] });
  return { vault, door, good };
});

async function createToken(key: string, part: object = {}): Promise<string> {
  const { status, body } = await world.current.vault.send('POST', '/tokens', { key, body: { data: 'x', ...part } });
  if (status !== 201) throw new Error(`POST /tokens answered ${status}`);
  return body.id;
}

/** What another Tenant does meanwhile: it creates, changes and searches. */
async function useAsOther(): Promise<number[]> {
  const { vault, good } = world.current;
  const { key } = good;
  const id = await createToken(key);
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const patch = {
      key,
      body: { metadata: { i: `${i}` } },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    };
    statuses.push((await vault.send('PATCH', `/tokens/${id}`, patch)).status);
    const body = { query: 'data:x' };
    statuses.push((await vault.send('POST', '/tokens/search', { key, body })).status);
  }
  return statuses;
}

const served = Array(10).fill(200);

interface Flood {
  name: string;
  count: number;
  send(key: string, id: string): { method: string; path: string; body: unknown; headers?: Record<string, string> };
}

const floods: Flood[] = [
  {
    name: 'creations of equal tokens',
    count: 150,
    send: () => ({ method: 'POST', path: '/tokens', body: { data: 'equal', deduplicate_token: true } }),
  },
  {
    name: 'patches of one token',
    count: 450,
    send: (_key, id) => ({
      method: 'PATCH',
      path: `/tokens/${id}`,
      body: { metadata: { at: randomUUID() } },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    }),
  },
  {
    name: 'searches',
    count: 60,
    send: () => ({ method: 'POST', path: '/tokens/search', body: { query: 'NOT metadata.a:1 AND NOT metadata.b:1' } }),
  },
];

const countWaiting = (db: Database) =>
  sql<{ count: number }>`
  select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);

describe.each(floods)('while $name of a Tenant hang in Postgres', ({ count, send }) => {
  slow('1.5 s')('another Tenant is served, and the process stays ready', async () => {
    const { vault, door } = world.current;
    const bad = await vault.createApplication({ rules: [reveal] });
    const id = await createToken(bad.key);
    door.hold(bad.tenantId);
    let answered = 0;
    const flood = Array.from({ length: count }, async () => {
      const { method, path, ...options } = send(bad.key, id);
      const { status } = await vault.send(method, path, { key: bad.key, ...options });
      answered += 1;
      return status;
    });
    await using _released = { [Symbol.asyncDispose]: async () => door.release() };
    await eventually('the Tenant waits in Postgres', () => door.held() > 0);
    expect(await useAsOther()).toEqual(served);
    expect(await vault.readiness.missing()).toEqual({});
    expect(door.held()).toBeLessThanOrEqual(poolSize / 2 + 2); // two are the flush of disclosures and the outbox
    expect(answered).toBe(0); // the control: the flood was there all the while
    door.release();
    await Promise.all(flood); // however they end: only others are judged
  });
});

test('of many patches of one token that is locked, one waits in Postgres', async () => {
  const { vault } = world.current;
  const { key } = await vault.createApplication({ permissions: everything, rules: [reveal] });
  const id = await createToken(key);
  const lock = await vault.db.startTransaction().execute();
  await using _ended = {
    [Symbol.asyncDispose]: async () =>
      void (lock.isCommitted || lock.isRolledBack || (await lock.rollback().execute())),
  };
  await lock.selectFrom('tokens').select('id').where('id', '=', id).forUpdate().execute();
  const patch = { key, body: { metadata: {} }, headers: { 'Content-Type': 'application/merge-patch+json' } };
  const flood = Array.from({ length: 50 }, () => vault.send('PATCH', `/tokens/${id}`, patch));
  await untilLockIsAwaited(vault.db);
  const { rows } = await countWaiting(vault.db);
  expect(rows).toEqual([{ count: 1 }]);
  await lock.rollback().execute();
  expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]));
});
