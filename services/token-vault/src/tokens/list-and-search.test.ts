import { randomUUID } from 'node:crypto';
import { type CallOptions, eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { everything, reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const card = { type: 'card', data: { number: '4242424242424242' } };

async function createTokens() {
  const { createTenant, createKey } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const inputs = [
    { id: 'first one', data: 'a', metadata: { customer: 'c-1', 'a key': 'x y' }, search_indexes: ['{{ data }}'] },
    { id: 'second', ...card, metadata: { customer: 'c-1' } },
    { id: 'third', data: 'c', metadata: { customer: 'ü&=' } },
  ];
  for (const body of inputs) expect((await send('POST', '/tokens', { key, body })).status).toBe(201);
  const cards = await createKey({ tenantId, rules: [{ ...reveal, container: '/pci/' }] });
  const none = await createKey({ tenantId, rules: [{ ...reveal, container: '/none/' }] });
  return { tenantId, key, cards, none };
}

const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe('GET /tokens', () => {
  test('200: a page, newest first, each token as a get would answer it', async () => {
    const { key } = await createTokens();
    const { status, body, headers } = await send('GET', '/tokens?page=1&size=2', { key });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body.pagination).toEqual({ total_items: 3, page_number: 1, page_size: 2, total_pages: 2 });
    expect(idsOf(body)).toEqual(['third', 'second']);
    expect(body.data[1]).toEqual((await send('GET', '/tokens/second', { key })).body);
    const past = await send('GET', '/tokens?page=9', { key });
    expect(past.body).toEqual({
      pagination: { total_items: 3, page_number: 9, page_size: 20, total_pages: 1 },
      data: [],
    });
  });

  test.each<[string, string[]]>([
    ['id=second&id=third', ['third', 'second']],
    ['id[]=second&id[]=first%20one', ['second', 'first one']],
    ['id=second,unknown,third', ['third', 'second']],
    ['id=', ['third', 'second', 'first one']],
    ['id=not-there', []],
    ['type=card', ['second']],
    ['type=card&type=token', ['third', 'second', 'first one']],
    ['type=bank,card', ['second']],
    ['metadata.customer=c-1', ['second', 'first one']],
    ['metadata.customer=c-1&type=token', ['first one']],
    ['metadata.a%20key=x%20y', ['first one']],
    [`metadata.customer=${encodeURIComponent('ü&=')}`, ['third']],
    ['metadata.customer=c', []],
    ['metadata.customer=', ['third', 'second', 'first one']],
    ['metadata.__proto__=x', []],
    ['metadata=x&nope=1&meta.customer=c-1', ['third', 'second', 'first one']],
  ])('200 for ?%s', async (query, ids) => {
    const { key } = await createTokens();
    const { status, body } = await send('GET', `/tokens?${query}`, { key });
    expect([status, idsOf(body), body.pagination.total_items]).toEqual([200, ids, ids.length]);
  });

  test.each([
    ['page=0', 'page'],
    ['size=101', 'size'],
    ['size=x', 'size'],
    ['type=nope', 'type[0]'],
    ['metadata.a=1&metadata.a=2', 'metadata.a'],
    ['metadata.a=%00', 'metadata'],
    ['id=%00', 'id[0]'],
  ])('400 for ?%s, naming %s', async (query, parameter) => {
    const key = await service.current.createKey({ permissions: everything });
    const { status, body } = await send('GET', `/tokens?${query}`, { key });
    expect([status, Object.keys(body.errors).map((name) => name.startsWith(parameter))]).toEqual([400, [true]]);
  });

  test('another Tenant’s tokens, and those of other containers, are neither in data nor in totals', async () => {
    const { cards, none } = await createTokens();
    const foreign = await service.current.createKey({ permissions: everything });
    const answers = await Promise.all([cards, none, foreign].map((key) => send('GET', '/tokens', { key })));
    expect(answers.map(({ status, body }) => [status, idsOf(body), body.pagination.total_items])).toEqual([
      [200, ['second'], 1],
      [200, [], 0],
      [200, [], 0],
    ]);
  });
});

test('503 after two seconds for a search, which says so and names what costs less, while a list still waits', async () => {
  const { key } = await createTokens();
  const body = { query: 'NOT id:x' };
  const lock = await service.current.db.startTransaction().execute();
  await sql`lock table tokens in access exclusive mode`.execute(lock);
  let hasListed = false;
  const list = send('GET', '/tokens', { key }).finally(() => (hasListed = true));
  const searches = await Promise.all(
    ['/tokens/search', '/v2/tokens/search'].map((path) => send('POST', path, { key, body })),
  );
  expect(hasListed).toBe(false);
  await lock.rollback().execute();
  for (const { status, headers, body } of searches) {
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    for (const words of ['took too long', 'narrower', '/v2/tokens']) expect(body.detail).toContain(words);
  }
  expect((await list).status).toBe(200);
});

describe('POST /tokens/search', () => {
  const search = (key: string, query: string, page = {}) =>
    send('POST', '/tokens/search', { key, body: { query, ...page } });

  test('200: a page of what matches, newest first, each token as a get would answer it', async () => {
    const { key } = await createTokens();
    const { status, body } = await search(key, 'metadata.customer:c-1', { page: 1, size: 1 });
    expect([status, body.pagination]).toEqual([200, { total_items: 2, page_number: 1, page_size: 1, total_pages: 2 }]);
    expect(body.data).toEqual([(await send('GET', '/tokens/second', { key })).body]);
    expect(idsOf((await search(key, 'data:a OR container:/pci/*')).body)).toEqual(['second', 'first one']);
  });

  test('only what the caller may read', async () => {
    const { cards, none } = await createTokens();
    const foreign = await service.current.createKey({ permissions: everything });
    const answers = await Promise.all([cards, none, foreign].map((key) => search(key, 'NOT id:nothing')));
    expect(answers.map(({ status, body }) => [status, idsOf(body), body.pagination.total_items])).toEqual([
      [200, ['second'], 1],
      [200, [], 0],
      [200, [], 0],
    ]);
  });

  test.each<[unknown, string[]]>([
    [{}, ['query']],
    [{ query: null }, ['query']],
    [{ query: 1 }, ['query']],
    [{ query: '' }, ['query']],
    [{ query: 'x'.repeat(201) }, ['query']],
    [{ query: 'id:\u0000' }, ['query']],
    [{ query: `${'('.repeat(100)}` }, ['query']],
    [{ query: 'type:card', page: 0 }, ['page']],
    [{ query: 'type:card', size: '5' }, ['size']],
    [['type:card'], ['$']],
  ])('400 for %j', async (body, members) => {
    const key = await service.current.createKey({ permissions: everything });
    const answer = await send('POST', '/tokens/search', { key, body });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, members]);
  });

  test('400 with the position of what is not understood, which is not repeated', async () => {
    const key = await service.current.createKey({ permissions: everything });
    const { status, body } = await search(key, 'type:card AND hunter2:4242424242424242');
    expect(status).toBe(400);
    expect(body.errors.query[0]).toMatch(/^at character 14: expected one of id, type, /);
    expect(JSON.stringify(body)).not.toMatch(/hunter2|42424242/);
  });

  test('is never replayed: an idempotency key is ignored', async () => {
    const { key } = await createTokens();
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const ask = () => send('POST', '/tokens/search', { key, headers, body: { query: 'type:card' } });
    expect((await ask()).body.data).toHaveLength(1);
    expect((await send('DELETE', '/tokens/second', { key })).status).toBe(204);
    expect((await ask()).body.data).toHaveLength(0);
  });

  test('405 for another method, with Allow', async () => {
    const key = await service.current.createKey({ permissions: everything });
    const { status, headers } = await send('PUT', '/tokens/search', { key, body: {} });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });
});

test('what was searched for is not in the log', async () => {
  const { createKey, lines } = service.current;
  const key = await createKey({ permissions: everything });
  const query = 'data:canary-of-a-search';
  expect((await send('POST', '/tokens/search', { key, body: { query } })).status).toBe(200);
  expect((await send('POST', '/tokens/search', { key, body: { query: `(${query}` } })).status).toBe(400);
  await eventually('the log', () => lines.filter((line) => line.includes('"path":"/tokens/search"')).length > 1);
  expect(lines.join('\n')).not.toMatch(/canary|hunter2|4242424242424242/);
});
