import { randomUUID } from 'node:crypto';
import { slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { type Actor, createToken, findToken, searchTokens, type Token, updateToken } from '../index.ts';
import { openTestVault } from '../testing/open-test-vault.ts';
import {
  anyContainer,
  anyQuery,
  isFindable,
  type ModelToken,
  matches,
  metadataKeys,
  searchableTexts,
  writeQuery,
} from '../testing/query-model.ts';

const open = useStack(openTestVault);
const page = { page: 1, size: 100 };
const idsOf = (tokens: readonly Token[]) => tokens.map(({ id }) => id);

async function search(actor: Actor, query: string, request = page) {
  const { tokens, total } = await searchTokens(open.current.vault, actor, { query, ...request });
  return { ids: idsOf(tokens), total };
}

describe('data', () => {
  test('is found by the exact text that a search index came to, by no part of it, and by no other spelling', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, {
      data: { name: 'Ada Lovelace', born: 1815, tags: ['x', 'é'] },
      search_indexes: [
        '{{ data.name }}',
        '{{ data.born }}',
        '{{ data.name | last4 }}',
        '{{ data.tags | json: "$[1]" }}',
      ],
    });
    for (const text of ['"Ada Lovelace"', '1815', 'lace', 'é']) {
      expect([text, await search(actor, `data:${text}`)]).toEqual([text, { ids: [token.id], total: 1 }]);
    }
    for (const text of ['Ada', '"ada lovelace"', '"Ada Lovelace "', 'x', 'e\u0301', '181']) {
      expect([text, await search(actor, `data:${text}`)]).toEqual([text, { ids: [], total: 0 }]);
    }
  });

  test('is found by nothing without a search index, and by nothing that came to no text', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    await createToken(vault, actor, { data: 'x' });
    await createToken(vault, actor, { data: { a: null }, search_indexes: ['{{ data.a }}', '{{ data.b }}'] });
    expect(await search(actor, 'data:x')).toEqual({ ids: [], total: 0 });
    expect(await search(actor, 'data:""')).toEqual({ ids: [], total: 0 });
  });

  test('the row holds no text and no hash that another Tenant could compare', async () => {
    const { vault, db, createActor } = open.current;
    const actors = [await createActor(), await createActor()];
    const input = { id: 'canary', data: 'canary-value', search_indexes: ['{{ data }}'] };
    for (const actor of actors) await createToken(vault, actor, input);
    const rows = await db.selectFrom('tokens').select('search_hashes').where('id', '=', 'canary').execute();
    expect(rows.map(({ search_hashes }) => search_hashes.length)).toEqual([1, 1]);
    expect(rows[0]?.search_hashes).not.toEqual(rows[1]?.search_hashes);
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  test('of a card is never indexed with its cvc', async () => {
    const { vault, db, createActor } = open.current;
    const actor = await createActor();
    const data = { number: '4242424242424242', cvc: '987' };
    const search_indexes = ['{{ data.cvc }}', '{{ data.number | last4 }}'];
    const { token } = await createToken(vault, actor, { type: 'card', data, search_indexes });
    expect(await search(actor, 'data:987')).toEqual({ ids: [], total: 0 });
    expect(await search(actor, 'data:4242')).toEqual({ ids: [token.id], total: 1 });
    const { search_hashes } = await db
      .selectFrom('tokens')
      .select('search_hashes')
      .where('id', '=', token.id)
      .executeTakeFirstOrThrow();
    expect(search_hashes).toHaveLength(1);
  });

  test('is found as it is after a patch, not as it was', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: 'before', search_indexes: ['{{ data }}'] });
    await updateToken(vault, actor, token.id, { data: 'after' });
    expect([(await search(actor, 'data:before')).ids, (await search(actor, 'data:after')).ids]).toEqual([
      [],
      [token.id],
    ]);
  });
});

test('a day is a UTC day, its last millisecond included', async () => {
  const { vault, db, createActor } = open.current;
  const actor = await createActor();
  const moments = ['2026-01-01T23:59:59.999Z', '2026-01-02T00:00:00.000Z', '2026-01-02T23:59:59.999Z'];
  for (const created_at of moments) {
    const { token } = await createToken(vault, actor, { id: `at ${created_at.replaceAll(':', '-')}`, data: 1 });
    await db.updateTable('tokens').set({ created_at }).where('id', '=', token.id).execute();
  }
  const found = async (query: string) => (await search(actor, query)).total;
  expect(await found('created_at:2026-01-02')).toBe(2);
  expect(await found('created_at:[2026-01-01 TO 2026-01-02]')).toBe(3);
  expect(await found('created_at:[2026-01-01T00:00Z TO 2026-01-02T00:00Z]')).toBe(2);
  expect(await found('created_at:2026-01-02T01:59:59.999+02:00')).toBe(1);
  expect(await found('created_at:[2026-01-03 TO 2026-01-01]')).toBe(0);
  expect(await found('created_at:[0001-01-01 TO 9999-12-31]')).toBe(3);
  expect(await found('modified_at:[0001-01-01 TO 9999-12-31]')).toBe(0);
});

test('pages are newest first, each token once, with the total of all', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const created: Token[] = [];
  for (let i = 0; i < 7; i++) created.push((await createToken(vault, actor, { data: i, metadata: { k: 'v' } })).token);
  await createToken(vault, actor, { data: 1 });
  // Within a millisecond tokens are ordered by id.
  const moments = created.map(({ created_at, id }) => `${created_at} ${id}`);
  const newestFirst = moments.sort().reverse();
  const pages = [1, 2, 3, 4].map((number) => search(actor, 'metadata.k:v', { page: number, size: 3 }));
  const answers = await Promise.all(pages);
  expect(answers.map(({ total }) => total)).toEqual([7, 7, 7, 7]);
  expect(answers.map(({ ids }) => ids.length)).toEqual([3, 3, 1, 0]);
  expect(answers.flatMap(({ ids }) => ids)).toEqual(newestFirst.map((moment) => moment.split(' ')[1]));
});

test('answers data as a read would, and notes plaintext once for a page', async () => {
  const { vault, disclosures, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 'plain' });
  const masked = await createActor({ tenantId: actor.tenantId, permissions: ['token:search', 'token:read'] });
  disclosures.length = 0;
  const { tokens } = await searchTokens(vault, masked, { query: `id:${token.id}`, ...page });
  expect([tokens, disclosures]).toEqual([[await findToken(vault, masked, token.id)], []]);
  const revealed = await searchTokens(vault, actor, { query: `id:${token.id}`, ...page });
  expect(revealed.tokens).toEqual([{ ...token, data: 'plain' }]);
  expect(disclosures).toMatchObject([
    { operation: 'read', tenantId: actor.tenantId, actorId: actor.id, detail: { token_ids: [token.id] } },
  ]);
});

test('an expired token is not found', async () => {
  const { vault, expire, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 1 });
  await expire(actor, [token.id]);
  expect(await search(actor, `id:${token.id}`)).toEqual({ ids: [], total: 0 });
});

test('needs token:search, and finds nothing without token:read', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  await createToken(vault, actor, { data: 1 });
  const { tenantId } = actor;
  const reader = await createActor({ tenantId, permissions: ['token:read'] });
  await expect(search(reader, 'type:token')).rejects.toMatchObject({ code: 'forbidden' });
  const searcher = await createActor({ tenantId, permissions: ['token:search'] });
  expect(await search(searcher, 'type:token')).toEqual({ ids: [], total: 0 });
});

test.each([
  ['no date', 'created_at:yesterday', 11],
  ['no date in a range', 'created_at:[2026-01-01 TO 2026-02-31]', 26],
  ['an offset out of all years', 'created_at:0001-01-01T00:00+14:00', 11],
])('%s is a fault with its position', async (_name, query, position) => {
  const actor = await open.current.createActor();
  await expect(search(actor, query)).rejects.toMatchObject({
    code: 'validation_failed',
    errors: { query: [`at character ${position}: expected an ISO 8601 date`] },
  });
});

test('hostile values are values: no SQL, no pattern, no fault', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 1, metadata: { k: "%' or 1=1 --" } });
  for (const value of [
    '%',
    '_',
    "' or '1'='1",
    '$1',
    '"; drop table tokens; --',
    '\\',
    '{}',
    '\u202e',
    '🂡'.repeat(150),
  ]) {
    const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
    for (const field of ['id', 'type', 'data', 'fingerprint', 'container', 'metadata.k', 'created_by']) {
      expect([field, value, (await search(actor, `${field}:${quoted}`)).total]).toEqual([field, value, 0]);
    }
  }
  expect((await search(actor, `metadata.k:"%' or 1=1 --"`)).ids).toEqual([token.id]);
  expect((await search(actor, `metadata.__proto__:x OR metadata.constructor:y`)).total).toBe(0);
  for (const query of ['id:\0', 'id:\ud800', `data:"${'x'.repeat(200)}"`]) {
    await expect(search(actor, query)).rejects.toMatchObject({ code: 'validation_failed' });
  }
});

describe('as the model says', () => {
  const anyInput = fc.record({
    id: fc.constant(undefined).map(() => `token-${randomUUID()}`),
    value: fc.constantFrom(...searchableTexts),
    isCard: fc.boolean(),
    isPatched: fc.boolean(),
    metadata: fc.dictionary(fc.constantFrom(...metadataKeys), fc.constantFrom(...searchableTexts)),
    containers: fc.uniqueArray(anyContainer, { minLength: 1, maxLength: 3 }),
  });
  const anyRule = fc.record({
    priority: fc.integer({ min: 1, max: 3 }),
    container: anyContainer,
    transform: fc.constantFrom('reveal' as const, 'mask' as const, 'redact' as const),
    permissions: fc.subarray(['token:read', 'token:search', 'token:use'], { minLength: 1 }),
  });

  slow('1.9 s')('tokens of any kind, queries of any form, callers with any rules', async () => {
    const { vault, db, createActor } = open.current;
    const creators = [await createActor()];
    const tenantId = creators[0]?.tenantId ?? '';
    creators.push(await createActor({ tenantId }));
    const foreigner = await createActor();
    const model: ModelToken[] = [];
    for (const [i, input] of fc.sample(anyInput, 60).entries()) {
      const actor = creators[i % 2];
      if (!actor) throw new Error('no actor');
      const { id, value, isCard, metadata, containers } = input;
      const data = isCard ? { number: '4242424242424242', note: value } : { note: value };
      const wire = {
        id,
        type: isCard ? 'card' : 'token',
        data,
        metadata,
        containers,
        search_indexes: ['{{ data.note }}'],
      };
      await createToken(vault, foreigner, wire);
      await createToken(vault, actor, wire);
      const created_at = new Date(Date.UTC(2026, 0, 1, i * 7)).toISOString();
      await db.updateTable('tokens').set({ created_at }).where('id', '=', id).execute();
      if (input.isPatched) await updateToken(vault, creators[1] ?? actor, id, { metadata: { patched: 'yes' } });
      const token = await findToken(vault, actor, id);
      model.push({ token, searchTexts: [value] });
    }
    model.sort((a, b) => ((a.token.created_at ?? '') < (b.token.created_at ?? '') ? 1 : -1));
    const known = {
      ids: model.map(({ token }) => token.id).slice(0, 3),
      actors: creators.map(({ id }) => id),
      fingerprints: model.flatMap(({ token }) => token.fingerprint ?? []).slice(0, 3),
      moments: model.flatMap(({ token }) => [token.created_at ?? [], token.modified_at ?? []].flat()).slice(0, 20),
    };
    let found = 0;
    const rules = fc.option(fc.array(anyRule, { minLength: 1, maxLength: 3 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(anyQuery(known), rules, async (query, given) => {
        const text = writeQuery(query);
        fc.pre(Array.from(text).length <= 200);
        const actor = await createActor({ tenantId, ...(given && { rules: given }) });
        fc.pre(actor.rules.some(({ permissions }) => permissions.includes('token:search')));
        const expected = model.filter((one) => matches(query, one) && isFindable(actor, one.token));
        expect([text, await search(actor, text)]).toEqual([
          text,
          { ids: expected.map(({ token }) => token.id), total: expected.length },
        ]);
        found += expected.length;
      }),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(400);
  });
});
