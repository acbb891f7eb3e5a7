import { randomUUID } from 'node:crypto';
import { type CallOptions, useStack } from '@sluice/testing';
import { everything, reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const card = { type: 'card', data: { number: '4242424242424242', expiration_year: 2030 } };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const patch = (key: string, id: string, body: unknown, headers: Record<string, string> = mergePatch) =>
  send('PATCH', `/tokens/${id}`, { key, body, headers });

async function createCard() {
  const { createTenant, createKey } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const { body } = await send('POST', '/tokens', { key, body: card });
  return { tenantId, key, token: body };
}

describe('PATCH /tokens/{id}', () => {
  test('200 with the token, once every process knows it', async () => {
    const { key, token } = await createCard();
    const { status, body, headers } = await patch(key, token.id, { data: { expiration_year: 2031 } });
    expect(status).toBe(200);
    expect(body.data).toEqual({ ...card.data, expiration_year: 2031 });
    expect(headers.get('svc-revocation')).toMatch(/^change=[0-9a-f-]{36}, holders=\d+, waited_ms=\d+/);
    expect((await send('GET', `/tokens/${token.id}`, { key })).body).toEqual(body);
  });

  test.each([
    ['application/merge-patch+json; charset=utf-8', 200],
    ['APPLICATION/Merge-Patch+JSON', 200],
    ['application/json', 415],
    ['text/plain', 415],
  ])('%s is %i', async (type, status) => {
    const { key, token } = await createCard();
    expect((await patch(key, token.id, '{}', { 'Content-Type': type })).status).toBe(status);
  });

  test('415 without a content type', async () => {
    const { key, token } = await createCard();
    const url = `${service.current.url}/tokens/${token.id}`;
    const body = new Uint8Array(Buffer.from('{}'));
    const { status } = await fetch(url, { method: 'PATCH', headers: { 'SVC-API-KEY': key }, body });
    expect(status).toBe(415);
  });

  test('400 that names the member and never repeats the value; of an unknown token too', async () => {
    const { key, token } = await createCard();
    const wrong = { data: { number: '4242424242424241' } };
    const { status, body } = await patch(key, token.id, wrong);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['data.number']]);
    expect(JSON.stringify(body)).not.toContain('42424242');
    const shape = await patch(key, 'unknown', { containers: 'hunter2', metadata: { a: 1 } });
    expect([shape.status, Object.keys(shape.body.errors).sort()]).toEqual([400, ['containers', 'metadata.a']]);
    expect(JSON.stringify(shape.body)).not.toContain('hunter2');
    expect((await patch(key, token.id, [])).status).toBe(400);
  });

  test('404 for an unknown token and for another Tenant’s: one answer', async () => {
    const { token } = await createCard();
    const key = await service.current.createKey({ permissions: everything });
    const [unknown, foreign] = [await patch(key, 'unknown', {}), await patch(key, token.id, {})];
    expect([unknown.status, foreign.status]).toEqual([404, 404]);
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
  });

  test('403 without token:update on its container, or on the one that it would come to', async () => {
    const { tenantId, key, token } = await createCard();
    const { createKey } = service.current;
    const elsewhere = await createKey({ tenantId, rules: [{ ...reveal, container: '/bank/' }] });
    expect((await patch(elsewhere, token.id, {})).status).toBe(403);
    const here = await createKey({ tenantId, rules: [{ ...reveal, container: '/pci/' }] });
    const { status, body } = await patch(here, token.id, { containers: ['/bank/high/'] });
    expect([status, body.detail]).toEqual([403, 'token:update is not granted on /pci/high/, /bank/high/']);
    expect((await patch(key, token.id, { containers: ['/bank/high/'] })).body.containers).toEqual(['/bank/high/']);
    expect((await patch(here, token.id, {})).status).toBe(403);
  });

  test('409 where it would become equal to another and tokens are deduplicated', async () => {
    const { key, token } = await createCard();
    const other = { type: 'card', data: { number: '5555555555554444' } };
    expect((await send('POST', '/tokens', { key, body: other })).status).toBe(201);
    const { status } = await patch(key, token.id, { data: other.data, deduplicate_token: true });
    expect(status).toBe(409);
    expect((await patch(key, token.id, { data: other.data })).status).toBe(200);
  });

  test('413 for data that grows over 1 MiB, and for a body that is larger', async () => {
    const { key, token } = await createCard();
    expect((await patch(key, token.id, { data: { a: 'x'.repeat(700_000) } })).status).toBe(200);
    expect((await patch(key, token.id, { data: { b: 'x'.repeat(700_000) } })).status).toBe(413);
    expect((await patch(key, token.id, { data: { b: 'x'.repeat(2_000_000) } })).status).toBe(413);
  });

  test('a repetition under one idempotency key answers the same and changes nothing more', async () => {
    const { key, token } = await createCard();
    const headers = { ...mergePatch, 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const first = await patch(key, token.id, { metadata: { a: '1' } }, headers);
    await patch(key, token.id, { metadata: { a: '2' } });
    const second = await patch(key, token.id, { metadata: { a: '1' } }, headers);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await send('GET', `/tokens/${token.id}`, { key })).body.metadata).toEqual({ a: '2' });
  });

  test('a public Application with token:update changes, and sees no data', async () => {
    const { tenantId, token } = await createCard();
    const key = await service.current.createKey({ tenantId, type: 'public', permissions: ['token:update'] });
    const { status, body } = await patch(key, token.id, { data: { expiration_year: 2032 } });
    expect([status, body.id]).toEqual([200, token.id]);
    expect(body).not.toHaveProperty('data');
  });

  test('data may hold any text; the rest may not', async () => {
    const key = await service.current.createKey({ rules: [reveal] });
    const { body: token } = await send('POST', '/tokens', { key, body: { data: {} } });
    const { body } = await patch(key, token.id, '{"data":{"a":"\\u0000\\ud800"}}');
    expect(body.data).toEqual({ a: '\u0000\ud800' });
    expect((await patch(key, token.id, { metadata: { a: '\u0000' } })).status).toBe(400);
  });
});
