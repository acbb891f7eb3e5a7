import { randomUUID } from 'node:crypto';
import type { AccessRule } from '@sluice/access';
import { countRowsRead, recordStatements, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { type Actor, listTokens, type TokenPosition, walkFoundTokens, walkTokens } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import type { TokenFilter } from './list-tokens.ts';

const count = 100_000;

const open = useStack(async (stack) => {
  const test = await openTestVault(stack);
  const actor = await test.createActor({ rules: [{ transform: 'redact' }] });
  await fill(actor.tenantId, test.db, { from: 1, to: count });
  await sql`vacuum analyze tokens`.execute(test.db);
  return { ...test, actor };
});

type Db = Awaited<ReturnType<typeof openTestVault>>['db'];

async function fill(tenantId: string, db: Db, { from, to }: { from: number; to: number }): Promise<void> {
  await sql`
    insert into tokens (tenant_id, id, type, data_ciphertext, containers, metadata, active_month, created_at)
    select ${tenantId}, 'token-' || n, 'token', 'data',
      case when n % 10 = 0 then '{/tenth/}'::text[] else '{/others/}' end,
      case when n % 10 = 0 then '{"tenth": "yes"}'::jsonb else '{}' end, date_trunc('month', now()),
      timestamptz '2026-01-01' + n / 2 * interval '1 millisecond'
    from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
}

async function walkAll(actor: Actor, size: number, between: (page: number) => Promise<void> = async () => {}) {
  const seen: string[] = [];
  let after: TokenPosition | undefined;
  for (let page = 1; ; page++) {
    const { tokens, next } = await walkTokens(open.current.vault, actor, {}, { after, size });
    seen.push(...tokens.map(({ id }) => id));
    if (!next) return seen;
    expect(tokens).toHaveLength(size);
    after = next;
    await between(page);
  }
}

slow('3.6 s')(
  'a walk over 100,000 tokens gives each that stays exactly once, while others are created and deleted',
  async () => {
    const { db, actor } = open.current;
    const { tenantId } = actor;
    const doomed = (n: number) => n % 7 === 3;
    let created = 0;
    let deleted = 0;
    const seen = await walkAll(actor, 100, async (page) => {
      if (page % 5 > 0) return;
      for (const at of ['2027-01-01', '2025-01-01', '2026-01-01 00:00:25']) {
        const row = { tenant_id: tenantId, id: randomUUID(), type: 'token', data_ciphertext: Buffer.from('x') };
        const rest = { containers: ['/others/'], metadata: '{}', active_month: '2026-01-01' };
        await db
          .insertInto('tokens')
          .values({ ...row, ...rest, created_at: `${at}Z` })
          .execute();
        created += 1;
      }
      const ids = Array.from({ length: 40 }, (_, i) => ((page * 40 + i) % Math.floor(count / 7)) * 7 + 3).map(
        (n) => `token-${n}`,
      );
      const result = await sql`delete from tokens where tenant_id = ${tenantId} and id = any(${ids}::text[])`.execute(
        db,
      );
      deleted += Number(result.numAffectedRows);
    });
    expect(created).toBeGreaterThan(500);
    expect(deleted).toBeGreaterThan(5000);
    expect(new Set(seen).size).toBe(seen.length);
    const found = new Set(seen);
    const stayed = Array.from({ length: count }, (_, i) => i + 1).filter((n) => !doomed(n));
    expect(stayed.filter((n) => !found.has(`token-${n}`))).toEqual([]);
  },
);

test('pages by number would give some twice while tokens come: the walk is needed', async () => {
  const { db, vault, actor } = open.current;
  const first = await listTokens(vault, actor, {}, { page: 1, size: 5 });
  const newest = { created_at: '2028-01-01Z', active_month: '2026-01-01', metadata: '{}' };
  const row = { tenant_id: actor.tenantId, id: randomUUID(), type: 'token', data_ciphertext: Buffer.from('x') };
  await db
    .insertInto('tokens')
    .values({ ...row, ...newest, containers: ['/others/'] })
    .execute();
  const second = await listTokens(vault, actor, {}, { page: 2, size: 5 });
  expect(second.tokens[0]?.id).toBe(first.tokens[4]?.id);
});

test('only what the actor may read, also by a search', async () => {
  const { vault, createActor, actor } = open.current;
  const reader = await createActor({
    tenantId: actor.tenantId,
    rules: [{ transform: 'redact', container: '/tenth/', permissions: ['token:read', 'token:search'] }],
  });
  const page = await walkTokens(vault, reader, {}, { size: 30 });
  expect(page.tokens).toHaveLength(30);
  expect(page.tokens.every(({ containers }) => containers[0] === '/tenth/')).toBe(true);
  const found = await walkFoundTokens(vault, reader, { query: 'type:token' }, { size: 30 });
  expect(found.tokens.map(({ id }) => id)).toEqual(page.tokens.map(({ id }) => id));
});

test('a walk of pages that end between tokens of one millisecond loses none', async () => {
  const { db, actor, createActor } = open.current;
  const other = await createActor({ rules: [{ transform: 'redact' }] });
  await fill(other.tenantId, db, { from: 1, to: 20 });
  for (const size of [1, 2, 3, 7]) expect(await walkAll(other, size)).toHaveLength(20);
  expect(actor.tenantId).not.toBe(other.tenantId);
});

describe('by EXPLAIN, a page reads no more rows than it needs, wherever it is', () => {
  const matching = count / 10;
  const read = (rule: Partial<AccessRule>) => ({ rules: [{ transform: 'redact', ...rule } as const] });
  const session = (rule: Partial<AccessRule>, conditions: AccessRule['conditions']) => ({
    ...read(rule),
    session: { rules: [{ transform: 'redact' as const, container: undefined, conditions }] },
  });

  test.each<[string, Scene, number]>([
    ['all tokens', read({}), 101],
    ['a filter by type', { ...read({}), filter: { types: ['token'] } }, 101],
    // Where few tokens match, Postgres sorts all matches from the index of terms, and reads no more.
    ['a filter by metadata of every tenth', { ...read({}), filter: { metadata: { tenth: 'yes' } } }, matching],
    ['a rule for a container of every tenth', read({ container: '/tenth/' }), 1200],
    ['a rule for a container of nearly all', read({ container: '/others/' }), 200],
    ['a search', { ...read({}), query: 'type:token AND container:/tenth/' }, matching],
    [
      'a session with a condition on containers',
      session({}, [{ attribute: 'container', operator: 'starts_with', value: '/tenth/' }]),
      1200,
    ],
    [
      'a session with a condition on ids',
      session({}, [{ attribute: 'id', operator: 'starts_with', value: 'token-' }]),
      101,
    ],
  ])('%s', async (_name, scene, most) => {
    const [first, deep] = [
      await rowsRead(scene),
      await rowsRead(scene, { created_at: '2026-01-01T00:00:05.000Z', id: 'token-10000' }),
    ];
    expect(first.tokens).toBe(100);
    expect(deep.tokens).toBe(100);
    expect(Math.max(first.rows, deep.rows)).toBeLessThanOrEqual(most + 101);
  });

  interface Scene {
    rules: Partial<AccessRule>[];
    session?: { rules: Partial<AccessRule>[] };
    filter?: TokenFilter;
    query?: string;
  }

  async function rowsRead({ rules, session, filter = {}, query }: Scene, after?: TokenPosition) {
    const { actor, createActor, vault } = open.current;
    const application = await createActor({ tenantId: actor.tenantId, rules });
    const reader = session
      ? { ...(await createActor({ tenantId: actor.tenantId, ...session })), within: application }
      : application;
    const { db, statements } = recordStatements(open.current.db);
    const page = query
      ? await walkFoundTokens({ ...vault, db }, reader, { query }, { after, size: 100 })
      : await walkTokens({ ...vault, db }, reader, filter, { after, size: 100 });
    const [found] = statements.filter(({ sql }) => sql.includes('found_id'));
    if (!found) throw new Error('no statement');
    const [rows = Infinity] = await countRowsRead(open.current.db, [found]);
    return { rows, tokens: page.tokens.length };
  }
});
