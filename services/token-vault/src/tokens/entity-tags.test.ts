import { type CallOptions, useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

async function createToken() {
  const { createTenant, createKey } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const created = await send('POST', '/tokens', { key, body: { data: 'a' } });
  const path = `/tokens/${created.body.id}`;
  const patch = (data: string, ifMatch: string) =>
    send('PATCH', path, { key, body: { data }, headers: { ...mergePatch, 'If-Match': ifMatch } });
  const etag = async (method = 'GET') => (await send(method, path, { key })).headers.get('etag');
  return { tenantId, key, path, created, patch, etag };
}

test('each change has another ETag, which create, GET, HEAD and PATCH show', async () => {
  const { created, etag, patch } = await createToken();
  const first = created.headers.get('etag');
  expect(first).toBe(`"${created.body.created_at}"`);
  expect([await etag(), await etag('HEAD')]).toEqual([first, first]);
  const changed = await patch('b', first ?? '');
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, `"${changed.body.modified_at}"`]);
  expect(changed.headers.get('etag')).not.toBe(first);
  expect(await etag()).toBe(changed.headers.get('etag'));
});

test('of ten who change the same version at once, one succeeds', async () => {
  const { key, path, patch, etag } = await createToken();
  const read = (await etag()) ?? '';
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => patch(`${index}`, read)));
  const done = answers.filter(({ status }) => status === 200);
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
  const now = await send('GET', path, { key });
  expect([done.length, now.body.data]).toEqual([1, done[0]?.body.data]);
  for (const { status, headers } of answers) {
    if (status === 412) expect(headers.get('etag')).toBe(now.headers.get('etag'));
  }
});

test('a stale DELETE is 412 and deletes nothing', async () => {
  const { key, path, patch, etag } = await createToken();
  const stale = (await etag()) ?? '';
  await patch('b', '*');
  expect((await send('DELETE', path, { key, headers: { 'If-Match': stale } })).status).toBe(412);
  expect((await send('DELETE', path, { key, headers: { 'If-Match': (await etag()) ?? '' } })).status).toBe(204);
});

test('412 is said after 403 and 404, and before 409', async () => {
  const { tenantId, key, path } = await createToken();
  const blind = await service.current.createKey({ tenantId, permissions: ['token:create'], type: 'public' });
  const headers = { ...mergePatch, 'If-Match': '"x"' };
  expect((await send('PATCH', path, { key: blind, body: { data: 'b' }, headers })).status).toBe(403);
  expect((await send('PATCH', '/tokens/unknown', { key, body: { data: 'b' }, headers })).status).toBe(404);
  expect((await send('DELETE', '/tokens/unknown', { key, headers })).status).toBe(404);
  await send('POST', '/tokens', { key, body: { data: 'b', deduplicate_token: true } });
  const equal = { data: 'b', deduplicate_token: true };
  expect((await send('PATCH', path, { key, body: equal, headers })).status).toBe(412);
  expect((await send('PATCH', path, { key, body: equal, headers: mergePatch })).status).toBe(409);
});

test('a response without times has no ETag', async () => {
  const { tenantId, key } = await createToken();
  const equal = { data: 'the same', deduplicate_token: true };
  const shown = await send('POST', '/tokens', { key, body: equal });
  expect(shown.headers.get('etag')).toBe(`"${shown.body.created_at}"`);
  const blind = await service.current.createKey({ tenantId, permissions: ['token:create'] });
  const found = await send('POST', '/tokens', { key: blind, body: equal });
  expect([found.status, found.body.id, found.body.created_at]).toEqual([200, shown.body.id, undefined]);
  expect(found.headers.get('etag')).toBeNull();
});
