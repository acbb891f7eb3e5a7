import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const unknownId = '6f1c7b58-2a3d-4e9f-8b10-5d7c9e2f4a61';
const strong = { name: 'Strong', type: 'management', permissions: ['tenant:delete', 'log:read'] };

describe('a management permission that the caller does not hold', () => {
  test.each([
    ['flat', { permissions: ['application:create', 'tenant:delete'] }],
    ['by a rule', { rules: [{ priority: 1, transform: 'redact', permissions: ['tenant:delete'] }] }],
  ])('is not granted by create, %s: 403 naming it, and nothing is created', async (_, grants) => {
    const { keyWith, send } = api.current;
    const key = await keyWith('application:create', 'application:read');
    const before = (await send('GET', '/applications')).body.pagination.total_items;
    const body = { name: 'A', type: 'management', ...grants };
    const answer = await send('POST', '/applications', { key, body });
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('tenant:delete') } });
    expect(answer.body.detail).not.toContain('application:create');
    expect((await send('GET', '/applications')).body.pagination.total_items).toBe(before);
  });

  test('is not granted by PUT, to itself or to others, and an Application that has one is not changed', async () => {
    const { application, keyWith, send } = api.current;
    const key = await keyWith('application:update', 'application:read');
    const { id: self } = (await send('GET', '/applications/key', { key })).body;
    const weak = await application({ type: 'management', permissions: ['application:read'] });
    const stronger = await application(strong);
    const put = (id: string, permissions: string[]) =>
      send('PUT', `/applications/${id}`, { key, body: { name: 'B', permissions } });
    for (const id of [self, weak.id]) {
      expect(await put(id, ['application:read', 'log:read'])).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('log:read') },
      });
    }
    // Removing permissions is refused too, because they are not the caller's to decide about.
    expect((await put(stronger.id, ['application:read'])).status).toBe(403);
    expect((await send('GET', `/applications/${stronger.id}`)).body.permissions).toEqual(strong.permissions);
    expect((await put(weak.id, ['application:update'])).status).toBe(200);
    expect((await put(unknownId, ['log:read'])).status).toBe(404);
  });

  test('puts the keys of its Application out of reach: none is replaced, added or deleted', async () => {
    const { application, keyWith, send } = api.current;
    const key = await keyWith('application:update');
    const stronger = await application(strong);
    const at = `/applications/${stronger.id}`;
    const { body: second } = await send('POST', `${at}/keys`);
    const changes = [
      ['POST', `${at}/regenerate`],
      ['POST', `${at}/keys`],
      ['DELETE', `${at}/keys/${second.id}`],
    ] as const;
    for (const [method, path] of changes) {
      expect(await send(method, path, { key })).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('tenant:delete, log:read') },
      });
    }
    for (const one of [stronger.key, second.key]) expect((await send('GET', '/logs', { key: one })).status).toBe(200);
    // A key that does not exist is 404 to everyone.
    expect((await send('DELETE', `${at}/keys/${unknownId}`, { key })).status).toBe(404);
    const held = await keyWith('application:update', 'tenant:delete', 'log:read');
    expect((await send('POST', `${at}/keys`, { key: held })).status).toBe(201);
    expect((await send('DELETE', `${at}/keys/${second.id}`, { key: held })).status).toBe(204);
    expect((await send('POST', `${at}/regenerate`, { key: held })).status).toBe(200);
  });
});

test('token permissions are granted by whoever may write Applications', async () => {
  const { keyWith, send } = api.current;
  const key = await keyWith('application:create', 'application:update');
  const body = { name: 'A', type: 'private', permissions: ['token:use', 'token:read'] };
  const created = await send('POST', '/applications', { key, body });
  expect(created.status).toBe(201);
  expect((await send('POST', `/applications/${created.body.id}/regenerate`, { key })).status).toBe(200);
});

test('a permission that is held by a rule may be granted', async () => {
  const { application, send } = api.current;
  const rules = [{ priority: 1, transform: 'redact', permissions: ['application:create', 'log:read'] }];
  const { key } = await application({ type: 'management', permissions: undefined, rules });
  const body = { name: 'A', type: 'management', permissions: ['log:read'] };
  expect((await send('POST', '/applications', { key, body })).status).toBe(201);
});
