import { type CallOptions, useStack } from '@sluice/testing';
import { everything, reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);

async function createScene() {
  const { createTenant, createKey } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  for (let n = 1; n <= 7; n++) {
    const data = n % 2 ? { type: 'card', data: { number: '4242424242424242' } } : { data: n };
    const body = { id: `token-${n}`, metadata: { customer: 'c-1' }, ...data };
    expect((await send('POST', '/tokens', { key, body })).status).toBe(201);
  }
  return { tenantId, key };
}

const walk = (query: string, key: string) => send('GET', `/v2/tokens${query}`, { key });
const search = (body: object, key: string) => send('POST', '/v2/tokens/search', { key, body });
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

test('200: pages newest first, each token as a get would answer it; next only where another row exists', async () => {
  const { key } = await createScene();
  const first = await walk('?size=4', key);
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(first.body.pagination).toEqual({ page_size: 4, next: expect.stringMatching(/^[\w-]+$/) });
  expect(idsOf(first.body)).toEqual(['token-7', 'token-6', 'token-5', 'token-4']);
  expect(first.body.data[0]).toEqual((await send('GET', '/tokens/token-7', { key })).body);
  const second = await walk(`?size=4&start=${first.body.pagination.next}`, key);
  expect(idsOf(second.body)).toEqual(['token-3', 'token-2', 'token-1']);
  expect(second.body.pagination).toEqual({ page_size: 4 });
  expect((await walk('?size=7', key)).body.pagination).toEqual({ page_size: 7 });
  expect((await walk('', key)).body.pagination).toEqual({ page_size: 20 });
});

test('200: filters as GET /tokens has them, and a search', async () => {
  const { key } = await createScene();
  const first = await walk('?type=card&metadata.customer=c-1&size=3', key);
  expect(idsOf(first.body)).toEqual(['token-7', 'token-5', 'token-3']);
  const start = first.body.pagination.next;
  expect(idsOf((await walk(`?type=card&metadata.customer=c-1&size=3&start=${start}`, key)).body)).toEqual(['token-1']);
  expect(idsOf((await walk('?id=token-2,token-4', key)).body)).toEqual(['token-4', 'token-2']);
  const found = await search({ query: 'type:card', size: 3 }, key);
  expect(idsOf(found.body)).toEqual(['token-7', 'token-5', 'token-3']);
  const next = found.body.pagination.next;
  expect(idsOf((await search({ query: 'type:card', size: 3, start: next }, key)).body)).toEqual(['token-1']);
});

test('200: the page may have another size than the one before, and its last token may be gone', async () => {
  const { key } = await createScene();
  const { body } = await walk('?size=3', key);
  expect((await send('DELETE', '/tokens/token-5', { key })).status).toBe(204);
  expect(idsOf((await walk(`?size=2&start=${body.pagination.next}`, key)).body)).toEqual(['token-4', 'token-3']);
});

describe('400', () => {
  test.each(['?size=0', '?size=101', '?size=x', '?type=nothing', '?start=x', '?start=bm90aGluZw'])(
    '%s',
    async (query) => {
      const { key } = await createScene();
      expect((await walk(query, key)).status).toBe(400);
    },
  );

  test('a cursor that was changed anywhere, or that is used for another filter, operation or Tenant', async () => {
    const { key, tenantId } = await createScene();
    const other = await createScene();
    const next: string = (await walk('?size=3&type=card', key)).body.pagination.next;
    const withType = (start: string) => walk(`?size=3&type=card&start=${start}`, key);
    for (let i = 0; i < next.length; i++) {
      const changed = next.slice(0, i) + (next[i] === 'A' ? 'B' : 'A') + next.slice(i + 1);
      expect({ i, status: (await withType(changed)).status }).toEqual({ i, status: 400 });
    }
    for (const start of [`${next}A`, `${next}=`, next.slice(0, -1)]) expect((await withType(start)).status).toBe(400);
    expect((await walk(`?size=3&start=${next}`, key)).status).toBe(400);
    expect((await walk(`?size=3&type=card&start=${next}`, other.key)).status).toBe(400);
    expect((await search({ query: 'type:card', start: next }, key)).status).toBe(400);
    const { createKey } = service.current;
    const colleague = await createKey({ tenantId, rules: [reveal] });
    expect((await walk(`?size=3&type=card&start=${next}`, colleague)).status).toBe(200);
  });

  test('a query that is none, with its position', async () => {
    const { key } = await createScene();
    expect((await search({ query: 'nothing:x' }, key)).status).toBe(400);
  });
});

test('401, 403 and 415', async () => {
  const { createKey } = service.current;
  const writer = await createKey({ permissions: everything.filter((one) => !/read|search/.test(one)) });
  expect((await walk('', 'none')).status).toBe(401);
  expect((await walk('', writer)).status).toBe(403);
  expect((await search({ query: 'type:card' }, 'none')).status).toBe(401);
  expect((await search({ query: 'type:card' }, writer)).status).toBe(403);
  const headers = { 'Content-Type': 'text/plain' };
  expect(
    (await send('POST', '/v2/tokens/search', { key: await createKey({ rules: [reveal] }), body: {}, headers })).status,
  ).toBe(415);
});
