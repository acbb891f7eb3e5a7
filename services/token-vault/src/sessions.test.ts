import { randomUUID } from 'node:crypto';
import { type CallOptions, useStack } from '@sluice/testing';
import { everything, reveal, startTestTokenVault } from './testing/test-token-vault.ts';

const service = useStack((stack) => startTestTokenVault(stack));
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const create = async (key: string, body: object) => (await send('POST', '/tokens', { key, body })).body;
const patch = (key: string, id: string, body: object) =>
  send('PATCH', `/tokens/${id}`, { key, body, headers: { 'Content-Type': 'application/merge-patch+json' } });

async function createScene() {
  const { createApplication, createSession } = service.current;
  const application = await createApplication({ rules: [reveal] });
  const [one, other] = [await createSession(application), await createSession(application)];
  return { application, one, other };
}

test('a cursor of a session is its own: 400 for another session and for the Application', async () => {
  const { application, one, other } = await createScene();
  for (let n = 0; n < 3; n++) await create(application.key, { data: n });
  const searched = { query: 'type:token', size: 1 };
  for (const walk of [
    (key: string, start?: string) => send('GET', `/v2/tokens?size=1${start ? `&start=${start}` : ''}`, { key }),
    (key: string, start?: string) =>
      send('POST', '/v2/tokens/search', { key, body: { ...searched, ...(start && { start }) } }),
  ]) {
    const { next } = (await walk(one.key)).body.pagination;
    expect((await walk(one.key, next)).status).toBe(200);
    for (const { key } of [other, application]) expect((await walk(key, next)).status).toBe(400);
    const { next: ofApplication } = (await walk(application.key)).body.pagination;
    expect((await walk(one.key, ofApplication)).status).toBe(400);
  }
});

test('an idempotency key of a session is its own: the same key of others acts anew', async () => {
  const { application, one, other } = await createScene();
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const ids = [];
  for (const { key } of [one, one, other, application]) {
    const { status, body } = await send('POST', '/tokens', { key, headers, body: { data: 'once' } });
    expect(status).toBe(201);
    ids.push(body.id);
  }
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
});

describe('what both a session and its Application are granted', () => {
  const allow = (container: string, transform: 'redact' | 'mask' | 'reveal', permissions = everything) =>
    ({ priority: 1, container, transform, permissions }) as const;

  test('PATCH shows what the stricter transform shows, and is audited as the session’s', async () => {
    const { createApplication, createSession, db } = service.current;
    const application = await createApplication({ rules: [reveal] });
    const masked = await createSession(application, { rules: [allow('/', 'mask')] });
    const { id } = await create(application.key, { data: '4242424242424242', type: 'card_number' });
    const answer = await patch(masked.key, id, { metadata: { a: 'b' } });
    expect(answer).toMatchObject({ status: 200, body: { data: 'XXXXXXXXXXXX4242', modified_by: masked.id } });
    expect((await patch(masked.key, id, { mask: '{{ data }}' })).status).toBe(403);
    const rows = await db
      .selectFrom('audit_log')
      .select(['actor_id', 'actor_type', 'detail'])
      .where('entity_id', '=', id)
      .where('operation', '=', 'update')
      .execute();
    const detail = expect.objectContaining({ application_id: application.id });
    expect(rows).toEqual([{ actor_id: masked.id, actor_type: 'session', detail }]);
  });

  test('a move is 403 to where the Application is not granted it, or would see more', async () => {
    const { createApplication, createSession, createKey } = service.current;
    const application = await createApplication({ rules: [allow('/pci/', 'redact'), allow('/low/', 'reveal')] });
    const session = await createSession(application, { permissions: ['token:update'], rules: [] });
    const owner = await createKey({ tenantId: application.tenantId, rules: [reveal] });
    const { id } = await create(owner, { data: 'hidden', containers: ['/pci/'] });
    expect((await patch(session.key, id, { containers: ['/low/'] })).status).toBe(403);
    expect((await patch(session.key, id, { containers: ['/other/'] })).status).toBe(403);
    expect((await patch(session.key, id, { containers: ['/pci/deeper/'] })).status).toBe(200);
    expect((await send('GET', `/tokens/${id}`, { key: application.key })).body).not.toHaveProperty('data');
  });

  test('an equal token of a card is told to a session that may not read it by no more than its id', async () => {
    const { createApplication, createSession, db } = service.current;
    const application = await createApplication({ rules: [reveal] });
    await db.updateTable('tenants').set({ deduplicate_tokens: true }).where('id', '=', application.tenantId).execute();
    const session = await createSession(application, { permissions: ['token:create'], rules: [] });
    const body = { type: 'card_number', data: '4242424242424242' };
    const first = await create(application.key, { ...body, metadata: { a: 'b' } });
    const again = await send('POST', '/tokens', { key: session.key, body });
    expect([again.status, again.body.id]).toEqual([200, first.id]);
    expect(Object.keys(again.body).sort()).toEqual(['containers', 'fingerprint', 'id', 'tenant_id', 'type']);
  });

  test('DELETE takes the tokens of its conditions, and no other', async () => {
    const { createApplication, createSession } = service.current;
    const application = await createApplication({ rules: [reveal] });
    const [mine, other] = [await create(application.key, { data: 1 }), await create(application.key, { data: 2 })];
    const conditions = [{ attribute: 'id', operator: 'equals', value: mine.id }] as const;
    const rules = [{ priority: 1, conditions, transform: 'redact', permissions: ['token:delete'] }] as const;
    const { key } = await createSession(application, { rules: [...rules] });
    expect((await send('DELETE', `/tokens/${other.id}`, { key })).status).toBe(403);
    expect((await send('DELETE', `/tokens/${mine.id}`, { key })).status).toBe(204);
    expect((await send('GET', `/tokens/${other.id}`, { key: application.key })).status).toBe(200);
  });
});
