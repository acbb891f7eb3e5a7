import { decide } from '@sluice/access';
import { afterStatement, slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import {
  type Actor,
  createToken,
  deleteExpiredTokens,
  deleteToken,
  findToken,
  listTokens,
  type Token,
  type TokenFilter,
  walkTokens,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { anyContainer } from '../../testing/query-model.ts';

const open = useStack(openTestVault);
const firstPage = { page: 1, size: 100 };

async function list(actor: Actor, filter: TokenFilter = {}, page = firstPage) {
  const { tokens, total } = await listTokens(open.current.vault, actor, filter, page);
  return { ids: tokens.map(({ id }) => id), total };
}

async function create(actor: Actor, count: number, input: object = {}): Promise<string[]> {
  const moments: string[] = [];
  for (let i = 0; i < count; i++) {
    const { token } = await createToken(open.current.vault, actor, { data: i, ...input });
    moments.push(`${token.created_at} ${token.id}`);
  }
  return moments.sort().map((moment) => moment.split(' ')[1] ?? '');
}

function sortNewestFirst(tokens: Token[]): void {
  const momentOf = ({ created_at, id }: Token) => `${created_at} ${id}`;
  tokens.sort((a, b) => (momentOf(a) < momentOf(b) ? 1 : -1));
}

const card = { type: 'card', data: { number: '4242424242424242' } };

test('newest first, page by page, with true totals past the end too', async () => {
  const actor = await open.current.createActor();
  const created = (await create(actor, 7)).reverse();
  const pages = await Promise.all([1, 2, 3, 4, 1000].map((page) => list(actor, {}, { page, size: 3 })));
  expect(pages.flatMap(({ ids }) => ids)).toEqual(created);
  expect(pages.map(({ ids, total }) => [ids.length, total])).toEqual([
    [3, 7],
    [3, 7],
    [1, 7],
    [0, 7],
    [0, 7],
  ]);
});

test('a Tenant without tokens has an empty page', async () => {
  expect(await list(await open.current.createActor())).toEqual({ ids: [], total: 0 });
});

test('filters by id, type and metadata, all of which must hold', async () => {
  const { createActor } = open.current;
  const actor = await createActor();
  const [first = '', second = ''] = await create(actor, 2, { metadata: { customer: 'c-1', a: 'b' } });
  const [third = ''] = await create(actor, 1, { ...card, metadata: { customer: 'c-1' } });
  const [fourth = ''] = await create(actor, 1, { ...card, metadata: { customer: "c'2", 'a key': '' } });
  const cases: [TokenFilter, string[]][] = [
    [{ ids: [second, 'unknown', second] }, [second]],
    [{ types: ['card'] }, [fourth, third]],
    [{ types: ['card', 'token'] }, [fourth, third, second, first]],
    [{ types: ['bank'] }, []],
    [{ metadata: { customer: 'c-1' } }, [third, second, first]],
    [{ metadata: { customer: 'c-1', a: 'b' } }, [second, first]],
    [{ metadata: { customer: "c'2" } }, [fourth]],
    [{ metadata: { 'a key': '' } }, [fourth]],
    [{ metadata: { customer: 'c' } }, []],
    [{ types: ['card'], metadata: { customer: 'c-1' } }, [third]],
    [{ ids: [first], types: ['card'] }, []],
  ];
  for (const [filter, ids] of cases)
    expect([filter, await list(actor, filter)]).toEqual([filter, { ids, total: ids.length }]);
});

test('totals agree with what is there after creations, deletions and expiry, before any worker has come', async () => {
  const { vault, createActor, expire } = open.current;
  const actor = await createActor();
  const [gone = '', expired = ''] = await create(actor, 4);
  await create(actor, 2, card);
  const flat = await createActor({ tenantId: actor.tenantId, permissions: ['token:read'] });
  await deleteToken(vault, actor, gone);
  await expire(actor, [expired]);
  for (const reader of [actor, flat]) {
    for (const types of [[], ['token'], ['card'], ['token', 'card']] as const) {
      const { ids, total } = await list(reader, { types });
      expect([types, total]).toEqual([types, ids.length]);
    }
  }
  expect((await list(actor)).total).toBe(4);
});

test.each([1, 2, 3, 4])(
  'the total is of one moment, where expired tokens are deleted after statement %i',
  async (number) => {
    const { vault, createActor, expire } = open.current;
    const actor = await createActor();
    await expire(actor, (await create(actor, 4)).slice(1));
    const sweep = () => vault.db.transaction().execute((tx) => deleteExpiredTokens(tx, actor.tenantId));
    const db = afterStatement(vault.db, number, sweep);
    expect(await listTokens({ ...vault, db }, actor, {}, firstPage)).toMatchObject({ total: 1 });
  },
);

test('tokens are answered as a read would; what shows values or masks of them is one disclosure a page', async () => {
  const { vault, createActor, disclosures } = open.current;
  const actor = await createActor();
  const ids = (await create(actor, 2, { ...card, metadata: { a: 'b' } })).reverse();
  disclosures.length = 0;
  const { tokens } = await listTokens(vault, actor, {}, firstPage);
  expect(disclosures).toMatchObject([{ operation: 'read', detail: { token_ids: ids } }]);
  expect(tokens).toEqual(await Promise.all(ids.map((id) => findToken(vault, actor, id))));
  disclosures.length = 0;
  const masked = await createActor({ tenantId: actor.tenantId, permissions: ['token:read'] });
  const page = await listTokens(vault, masked, {}, firstPage);
  expect(page.tokens[0]?.data).toEqual({ number: 'XXXXXXXXXXXX4242' });
  expect(disclosures).toMatchObject([{ operation: 'read', actorId: masked.id, detail: { token_ids: ids } }]);
  disclosures.length = 0;
  const rules = [{ container: '/', transform: 'redact' as const, permissions: ['token:read' as const], priority: 1 }];
  const redacted = await createActor({ tenantId: actor.tenantId, permissions: [], rules });
  const { tokens: bare } = await listTokens(vault, redacted, {}, firstPage);
  expect([bare.length, bare[0]?.data, disclosures]).toEqual([2, undefined, []]);
});

test('what cannot be noted is not disclosed', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  await create(actor, 1);
  const full = async () => {
    throw new Error('the log is full');
  };
  await expect(listTokens({ ...vault, disclosures: { record: full } }, actor, {}, firstPage)).rejects.toThrow('full');
});

test('a listed token counts as active in the month', async () => {
  const { db, time, createActor } = open.current;
  const actor = await createActor();
  const [id = ''] = await create(actor, 1);
  const before = time.now;
  time.now = new Date(before.getTime() + 40 * 24 * 3600 * 1000);
  await list(actor);
  time.now = before;
  const row = await db.selectFrom('tokens').select('active_month').where('id', '=', id).executeTakeFirstOrThrow();
  expect(row.active_month > before.toISOString().slice(0, 10)).toBe(true);
});

test('needs token:read', async () => {
  const { createActor } = open.current;
  await expect(list(await createActor({ permissions: ['token:create'] }))).rejects.toMatchObject({ code: 'forbidden' });
});

describe('callers with rules', () => {
  const anyCondition = fc.oneof(
    fc.record({
      attribute: fc.constant('container' as const),
      operator: fc.constantFrom('equals' as const, 'starts_with' as const),
      value: anyContainer,
    }),
    fc.record({
      attribute: fc.constant('id' as const),
      operator: fc.constant('starts_with' as const),
      value: fc.constantFrom('', '0', '1', '8', 'a', 'c'),
    }),
  );
  const anySessionRule = fc.record({
    priority: fc.integer({ min: 1, max: 3 }),
    conditions: fc.array(anyCondition, { minLength: 1, maxLength: 2 }),
    transform: fc.constantFrom('reveal' as const, 'mask' as const, 'redact' as const),
    permissions: fc.constant(['token:read']),
  });

  const anyRule = fc.record({
    priority: fc.integer({ min: 1, max: 3 }),
    container: fc.option(anyContainer, { nil: undefined, freq: 20 }),
    transform: fc.constantFrom('reveal' as const, 'mask' as const, 'redact' as const),
    permissions: fc.subarray(['token:read', 'token:search', 'token:use'], { minLength: 1 }),
  });

  slow('0.7 s')('see exactly what their rules let them read, and their total is of that', async () => {
    const { createActor } = open.current;
    const creator = await createActor();
    const { tenantId } = creator;
    const foreigner = await createActor();
    const tokens: Token[] = [];
    const places = fc.sample(fc.uniqueArray(anyContainer, { minLength: 1, maxLength: 3 }), 40);
    for (const containers of places) {
      await createToken(open.current.vault, foreigner, { data: 1, containers });
      tokens.unshift((await createToken(open.current.vault, creator, { data: 1, containers })).token);
    }
    sortNewestFirst(tokens);
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRule, { minLength: 1, maxLength: 4 }), fc.boolean(), async (rules, isTyped) => {
        const withoutNone = rules.map(({ container, ...rule }) => ({
          ...rule,
          ...(container !== undefined && { container }),
        }));
        const actor = { ...(await createActor({ tenantId })), rules: withoutNone };
        fc.pre(rules.some(({ permissions }) => permissions.includes('token:read')));
        const expected = tokens.filter(({ containers }) => decide(actor, 'token:read', containers)).map(({ id }) => id);
        const answer = await list(actor, isTyped ? { types: ['token'] } : {});
        expect(answer).toEqual({ ids: expected, total: expected.length });
        seen += expected.length;
      }),
      { numRuns: 200 },
    );
    expect(seen).toBeGreaterThan(200);
  });

  slow('0.6 s')('sessions see exactly what their own rules and those of their Application let them read', async () => {
    const { createActor } = open.current;
    const creator = await createActor();
    const tokens: Token[] = [];
    for (const containers of fc.sample(fc.uniqueArray(anyContainer, { minLength: 1, maxLength: 3 }), 40)) {
      tokens.unshift((await createToken(open.current.vault, creator, { data: 1, containers })).token);
    }
    sortNewestFirst(tokens);
    const within = fc.array(
      anyRule.map(({ container = '/', ...rule }) => ({ ...rule, container })),
      { minLength: 1, maxLength: 3 },
    );
    let seen = 0;
    let hidden = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anySessionRule, { minLength: 1, maxLength: 3 }), within, async (rules, outer) => {
        fc.pre(outer.some(({ permissions }) => permissions.includes('token:read')));
        const grants = { permissions: [], rules, within: { permissions: [], rules: outer } };
        const actor = { ...(await createActor({ tenantId: creator.tenantId })), ...grants };
        const expected = tokens.filter((token) => decide(actor, 'token:read', token)).map(({ id }) => id);
        expect(await list(actor)).toEqual({ ids: expected, total: expected.length });
        const { tokens: walked } = await walkTokens(open.current.vault, actor, {}, { size: 100 });
        expect(walked.map(({ id }) => id)).toEqual(expected);
        seen += expected.length;
        hidden += tokens.filter(
          (token) => !expected.includes(token.id) && decide({ permissions: [], rules }, 'token:read', token),
        ).length;
      }),
      { numRuns: 150 },
    );
    expect(seen).toBeGreaterThan(100);
    expect(hidden).toBeGreaterThan(20);
  });
});
