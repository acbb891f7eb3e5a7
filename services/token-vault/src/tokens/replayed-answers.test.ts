import { randomUUID } from 'node:crypto';
import type { AccessRule } from '@sluice/access';
import { call, eventually, useStack } from '@sluice/testing';
import { everything, reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const number = '4242424242424242';
const secret = { data: { text: 'hunter2' }, mask: 'masked', metadata: { note: 'private' } };

interface Request {
  send(url: string): ReturnType<typeof call>;
  tokenId: string;
  applicationId: string;
  key: string;
  tenantId: string;
}

type Kind = 'POST /tokens' | 'POST /tokenize' | 'PATCH /tokens/{id}';
const kinds: Kind[] = ['POST /tokens', 'POST /tokenize', 'PATCH /tokens/{id}'];

const patchType = 'application/merge-patch+json';

async function sendFirst(kind: Kind): Promise<Request & { first: Awaited<ReturnType<typeof call>> }> {
  const { createTenant, createApplication, createKey, send, url } = service.current;
  const tenantId = await createTenant();
  const { id: applicationId, key } = await createApplication({ tenantId, rules: [reveal] });
  let [method, path, body]: [string, string, unknown] = ['POST', '/tokens', secret];
  if (kind === 'POST /tokenize') [path, body] = ['/tokenize', { deep: [{ type: 'token', ...secret }] }];
  if (kind === 'PATCH /tokens/{id}') {
    const owner = await createKey({ tenantId, rules: [reveal] });
    const { body: token } = await send('POST', '/tokens', { key: owner, body: secret });
    [method, path, body] = ['PATCH', `/tokens/${token.id}`, { metadata: { more: 'x' } }];
  }
  const headers = {
    'Content-Type': method === 'PATCH' ? patchType : 'application/json',
    'SVC-IDEMPOTENCY-KEY': randomUUID(),
  };
  const again = (at: string) => call(at, method, path, { key, headers, body });
  const first = await again(url);
  expect(first.status).toBeLessThan(300);
  expect(tokenOf(first)).toMatchObject({ data: secret.data, metadata: { note: 'private' } });
  return { first, send: again, tokenId: tokenOf(first).id, applicationId, key, tenantId };
}

const tokenOf = ({ body }: { body: { deep?: [unknown] } }) =>
  (body.deep?.[0] ?? body) as { id: string; data?: unknown };

/** Another process answers, which has cached nothing. */
async function againWith(request: Request, rules: AccessRule[], permissions: string[] = []) {
  const { db, startAnother } = service.current;
  await db
    .updateTable('applications')
    .set({ rules: JSON.stringify(rules), permissions })
    .where('id', '=', request.applicationId)
    .execute();
  const { url } = await startAnother();
  return request.send(url);
}

describe.each(kinds)('%s', (kind) => {
  test('is answered again as it was, and the disclosure is noted again', async () => {
    const { db, url } = service.current;
    const { first, send, tokenId } = await sendFirst(kind);
    const noted = async () =>
      (
        await db
          .selectFrom('audit_log')
          .select('id')
          .where('operation', '=', 'read')
          .where('entity_id', '=', tokenId)
          .execute()
      ).length;
    const before = kind === 'PATCH /tokens/{id}' ? 1 : 0;
    await eventually('the first row', async () => (await noted()) === before);
    const second = await send(url);
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    await eventually('a row of the replay', async () => (await noted()) === before + 1);
  });

  test('shows a mask where its caller sees only that by now', async () => {
    const request = await sendFirst(kind);
    const second = await againWith(request, [{ ...reveal, transform: 'mask' }]);
    expect(tokenOf(second)).toMatchObject({ id: request.tokenId, data: 'masked' });
    expect(JSON.stringify(second.body)).not.toContain('hunter2');
  });

  test('shows no data where a rule redacts it by now', async () => {
    const request = await sendFirst(kind);
    const second = await againWith(request, [{ ...reveal, transform: 'redact' }]);
    expect(second.status).toBe(request.first.status);
    const { data: _data, ...others } = tokenOf(request.first);
    expect(tokenOf(second)).toEqual(others);
  });

  test('tells who may no longer read it nothing that others wrote', async () => {
    const request = await sendFirst(kind);
    const writing = everything.filter((permission) => permission !== 'token:read');
    const second = await againWith(request, [], writing);
    expect(second.status).toBe(request.first.status);
    expect(tokenOf(second)).toMatchObject({ id: request.tokenId, containers: ['/general/high/'] });
    expect(JSON.stringify(second.body)).not.toContain('hunter2');
    expect(JSON.stringify(second.body).includes('private')).toBe(kind !== 'PATCH /tokens/{id}');
  });

  test('shows what a read shows once the token has changed: the former data is gone', async () => {
    const { createKey, send, url } = service.current;
    const request = await sendFirst(kind);
    const key = await createKey({ tenantId: request.tenantId, rules: [reveal] });
    const patch = async (body: object) => {
      const headers = { 'Content-Type': patchType };
      expect((await send('PATCH', `/tokens/${request.tokenId}`, { key, headers, body })).status).toBe(200);
    };
    await patch({ metadata: { note: 'changed' } });
    expect(tokenOf(await request.send(url))).toEqual(tokenOf(request.first));
    await patch({ data: { text: 'another' } });
    const second = await request.send(url);
    expect(second.status).toBe(request.first.status);
    expect(tokenOf(second)).toEqual({ ...tokenOf(request.first), data: { text: 'another' } });
  });

  test('shows no data of a token that is gone, nor where another has its id', async () => {
    const { send, url, db } = service.current;
    const request = await sendFirst(kind);
    const { tokenId, key, tenantId } = request;
    expect((await send('DELETE', `/tokens/${tokenId}`, { key })).status).toBe(204);
    const gone = await request.send(url);
    expect([gone.status, tokenOf(gone).id]).toEqual([request.first.status, tokenId]);
    expect(JSON.stringify(gone.body)).not.toContain('hunter2');
    const owner = await service.current.createKey({ tenantId, rules: [reveal] });
    expect((await send('POST', '/tokens', { key: owner, body: { id: tokenId, data: 'other' } })).status).toBe(201);
    // Both may be of one millisecond
    const created_at = new Date(Date.now() + 1000).toISOString();
    await db.updateTable('tokens').set({ created_at }).where('id', '=', tokenId).execute();
    const replaced = await request.send(url);
    expect([replaced.status, replaced.body]).toEqual([gone.status, gone.body]);
  });
});

test('who never could read it is answered as before', async () => {
  const { createKey, send } = service.current;
  const key = await createKey({ type: 'public', permissions: ['token:create'] });
  const equal = { ...secret, deduplicate_token: true };
  for (const body of [{ type: 'card', data: { number } }, equal, equal]) {
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const first = await send('POST', '/tokens', { key, headers, body });
    const second = await send('POST', '/tokens', { key, headers, body });
    expect([second.status, second.body]).toEqual([first.status, first.body]);
  }
});
