import { randomUUID } from 'node:crypto';
import { type CallOptions, useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

const proxyId = '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11';
const far = '2100-01-01T00:00:00.000Z';
const sent = {
  ...{ proxies: [proxyId.toUpperCase()], destinations: ['API.Example.com', '*.example.org'], methods: ['post'] },
  ...{ places: ['body', 'header:X-Card'], max_uses: 3, until: '2100-01-01' },
};
const stored = {
  ...{ proxies: [proxyId], destinations: ['api.example.com', '*.example.org'], methods: ['POST'] },
  ...{ places: ['body', 'header:x-card'], max_uses: 3, until: far },
};

async function createScene() {
  const tenantId = await service.current.createTenant();
  const key = await service.current.createKey({ tenantId, rules: [reveal] });
  const create = (body: object, headers = {}) =>
    send('POST', '/tokens', { key, body: { data: 'v', ...body }, headers });
  const patch = (id: string, body: object) => send('PATCH', `/tokens/${id}`, { key, body, headers: mergePatch });
  const get = async (id: string) => (await send('GET', `/tokens/${id}`, { key })).body;
  const setUses = (id: string, uses: number) =>
    service.current.db
      .updateTable('tokens')
      .set({ uses })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .execute();
  return { tenantId, key, create, patch, get, setUses };
}

test('201 with use in one spelling, and none of its uses counted', async () => {
  const { create, get } = await createScene();
  const { status, body } = await create({ use: sent });
  expect([status, body.use, body.uses]).toEqual([201, stored, 0]);
  expect(await get(body.id)).toEqual(body);
  const unlimited = await create({ use: { methods: ['GET'] } });
  expect(unlimited.body.use).toEqual({ methods: ['GET'] });
  expect(unlimited.body).not.toHaveProperty('uses');
});

test('null is as absent, in use and for use; a token without it has neither member', async () => {
  const { create, patch } = await createScene();
  for (const use of [undefined, null]) {
    const { status, body } = await create({ use });
    expect([status, body.use, body.uses]).toEqual([201, undefined, undefined]);
  }
  const use = { max_uses: 1, until: null, methods: null };
  const { body } = await create({ use });
  expect(body.use).toEqual({ max_uses: 1 });
  expect((await patch(body.id, { use: { ...use, places: ['body'] } })).body.use).toEqual({
    max_uses: 1,
    places: ['body'],
  });
});

const faulty: [use: unknown, path: string, words: string][] = [
  ['body', 'use', 'must be an object'],
  [{}, 'use', 'must not be empty'],
  [{ methods: null }, 'use', 'must not be empty'],
  [{ methods: [] }, 'use.methods', 'must not be empty'],
  [{ methods: Array(21).fill('GET') }, 'use.methods', 'may have at most 20 items'],
  [{ methods: ['GET /'] }, 'use.methods[0]', 'must be an HTTP method'],
  [{ proxies: ['p'] }, 'use.proxies[0]', 'must be a UUID'],
  [{ places: ['cookie'] }, 'use.places[0]', 'must be body, query, path or header:'],
  [{ destinations: ['example.com', 'https://example.com'] }, 'use.destinations[1]', 'must be a host without a port'],
  [{ max_uses: 0 }, 'use.max_uses', 'must be at least 1'],
  [{ max_uses: '1' }, 'use.max_uses', 'must be a whole number'],
  [{ until: '2020-01-01' }, 'use.until', 'must be in the future'],
  [{ until: 'tomorrow' }, 'use.until', 'must be an ISO 8601 date'],
  [{ destination: ['example.com'] }, 'use.destination', 'is not a known field; did you mean destinations?'],
  [{ max_uses: 1, maxUses: 2 }, 'use.maxUses', 'is not a known field'],
];

test.each(faulty)('400 for %j, by create, tokenize and patch', async (use, path, words) => {
  const { key, create, patch } = await createScene();
  const { body: token } = await create({ use: { max_uses: 1 } });
  const item = { type: 'token', data: 'v', use };
  const refused = (at: string) => ({ status: 400, body: { errors: { [at]: [expect.stringContaining(words)] } } });
  expect(await create({ use })).toMatchObject(refused(path));
  expect(await patch(token.id, { use })).toMatchObject(refused(path));
  const tokenized = await send('POST', '/tokenize', { key, body: { cards: [item] } });
  expect(tokenized).toMatchObject(refused(`cards[0].${path}`));
});

test('tokenize makes tokens with use beside others', async () => {
  const { key, get } = await createScene();
  const document = {
    bound: { type: 'token', data: 'a', use: sent },
    free: { type: 'token', data: 'b', use: null },
    c: 1,
  };
  const { status, body } = await send('POST', '/tokenize', { key, body: document });
  expect([status, body.bound.use, body.bound.uses, body.free.use]).toEqual([200, stored, 0, undefined]);
  expect(await get(body.bound.id)).toEqual(body.bound);
  expect(await get(body.c)).not.toHaveProperty('use');
});

test('a patch replaces use as a whole, null removes it, and one that does not name it keeps it with what was counted', async () => {
  const { create, patch, get, setUses } = await createScene();
  const { body: token } = await create({ use: sent });
  await setUses(token.id, 2);
  const renamed = await patch(token.id, { metadata: { a: 'b' } });
  expect(renamed.body).toMatchObject({ use: stored, uses: 2, metadata: { a: 'b' } });
  const other = await patch(token.id, { use: { max_uses: 9, methods: ['get'] } });
  expect([other.body.use, other.body.uses]).toEqual([{ max_uses: 9, methods: ['GET'] }, 2]);
  const removed = await patch(token.id, { use: null });
  expect([removed.status, removed.body.use, removed.body.uses]).toEqual([200, undefined, undefined]);
  const again = await patch(token.id, { use: { max_uses: 1 } });
  expect([again.body.use, again.body.uses]).toEqual([{ max_uses: 1 }, 2]);
  expect(await get(token.id)).toEqual(again.body);
});

test('a stored use that is over stays where a patch does not name it; sent again it is 400', async () => {
  const { tenantId, create, patch } = await createScene();
  const { body: token } = await create({ use: { until: far } });
  const past = { until: '2020-01-01T00:00:00.000Z' };
  await service.current.db
    .updateTable('tokens')
    .set({ use: JSON.stringify(past) })
    .where('tenant_id', '=', tenantId)
    .execute();
  const kept = await patch(token.id, { metadata: { a: 'b' } });
  expect([kept.status, kept.body.use]).toEqual([200, past]);
  expect(await patch(token.id, { use: past })).toMatchObject({
    status: 400,
    body: { errors: { 'use.until': ['must be in the future'] } },
  });
});

test('every answer that shows the token has use and uses: lists, walks, searches and the console', async () => {
  const { tenantId, key, create, setUses } = await createScene();
  const { body: bound } = await create({ use: sent });
  const { body: free } = await create({});
  await setUses(bound.id, 2);
  const body = { query: 'type:token' };
  const member = await service.current.createMember(tenantId, 'OWNER');
  const pages = [
    await send('GET', '/tokens', { key }),
    await send('GET', '/v2/tokens', { key }),
    await send('POST', '/tokens/search', { key, body }),
    await send('POST', '/v2/tokens/search', { key, body }),
    await member.send('GET', '/api/tokens'),
  ];
  for (const page of pages) {
    const shown = page.body.data.map(({ id, use, uses }: typeof bound) => ({ id, use, uses }));
    expect(shown).toEqual([{ id: free.id }, { id: bound.id, use: stored, uses: 2 }]);
  }
});

test('a caller that may not read the token sees neither; the control: one that may only see it redacted sees both', async () => {
  const { tenantId, create } = await createScene();
  const { body: token } = await create({ use: sent });
  const change = (key: string) =>
    send('PATCH', `/tokens/${token.id}`, { key, body: { metadata: { a: 'b' } }, headers: mergePatch });
  const blind = await service.current.createKey({ tenantId, permissions: ['token:update'] });
  expect(Object.keys((await change(blind)).body).sort()).toEqual([
    'containers',
    'id',
    'modified_at',
    'modified_by',
    'tenant_id',
    'type',
  ]);
  const rule = { ...reveal, transform: 'redact' as const };
  const redacted = await service.current.createKey({ tenantId, rules: [rule] });
  const { body } = await change(redacted);
  expect([body.data, body.use, body.uses]).toEqual([undefined, stored, 0]);
});

test('counting changes neither modified_at nor the ETag; setting use changes both', async () => {
  const { key, create, patch, setUses } = await createScene();
  const { body: token } = await create({ use: { max_uses: 3 } });
  const path = `/tokens/${token.id}`;
  const etag = async () => (await send('GET', path, { key })).headers.get('etag');
  const first = (await etag()) ?? '';
  await setUses(token.id, 2);
  expect(await etag()).toBe(first);
  const headers = { ...mergePatch, 'If-Match': first };
  const narrowed = await send('PATCH', path, { key, body: { use: { max_uses: 2 } }, headers });
  expect(narrowed.status).toBe(200);
  expect(await etag()).toBe(`"${narrowed.body.modified_at}"`);
  expect((await send('PATCH', path, { key, body: { use: { max_uses: 1 } }, headers })).status).toBe(412);
  expect((await patch(token.id, { use: { max_uses: 1 } })).body.uses).toBe(2);
});

test('a repetition under one idempotency key answers the token that was made', async () => {
  const { create, get } = await createScene();
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const first = await create({ use: sent, deduplicate_token: true }, headers);
  const second = await create({ use: sent, deduplicate_token: true }, headers);
  expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  expect(await get(first.body.id)).toEqual(first.body);
  const other = await create({ use: { max_uses: 1 }, deduplicate_token: true }, headers);
  expect(other.status).toBe(409);
});

test('403 without token:create or token:update, 404 for an unknown token, 415 for another type', async () => {
  const { tenantId, key: owner, create, patch } = await createScene();
  const { body: token } = await create({});
  const key = await service.current.createKey({ tenantId, permissions: ['token:read'] });
  const body = { data: 'v', use: { max_uses: 1 } };
  expect((await send('POST', '/tokens', { key, body })).status).toBe(403);
  expect((await send('POST', '/tokenize', { key, body: { ...body, type: 'token' } })).status).toBe(403);
  const path = `/tokens/${token.id}`;
  expect((await send('PATCH', path, { key, body: { use: null }, headers: mergePatch })).status).toBe(403);
  expect((await send('PATCH', path, { key: owner, body: { use: null } })).status).toBe(415);
  expect((await patch('unknown', { use: null })).status).toBe(404);
});

test('the token of one Tenant is bound, counted and shown apart from one with its id in another', async () => {
  const scenes = await Promise.all([createScene(), createScene()]);
  for (const [n, own] of scenes.entries()) {
    const { status } = await own.create({ id: 'the-same', use: { max_uses: n + 1 }, deduplicate_token: true });
    expect(status).toBe(201);
  }
  for (const [n, own] of scenes.entries()) {
    const other = scenes[1 - n];
    const limit = n + 1;
    await own.setUses('the-same', limit);
    expect(await own.get('the-same')).toMatchObject({ use: { max_uses: limit }, uses: limit });
    const list = await send('GET', '/tokens', { key: own.key });
    expect(list.body.data).toMatchObject([{ use: { max_uses: limit }, uses: limit }]);
    const { body: mine } = await own.create({ use: { max_uses: limit } });
    expect(await other?.patch(mine.id, { use: null })).toMatchObject({ status: 404 });
    expect(await other?.get(mine.id)).toMatchObject({ status: 404 });
    expect((await own.get(mine.id)).use).toEqual({ max_uses: limit });
    await own.setUses('the-same', 0);
    await send('DELETE', `/tokens/${mine.id}`, { key: own.key });
  }
});
