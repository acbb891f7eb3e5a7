import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement, uuidText } from '../../testing/test-management.ts';

const api = useStack(() => shareTestManagement());
const get = (path: string, key?: string) => api.current.send('GET', path, key === undefined ? {} : { key });

test('200: a plain array, for any valid key', async () => {
  const { key } = await api.current.application({ type: 'public', permissions: ['token:create'] });
  const { status, body } = await get('/application-templates', key);
  expect(status).toBe(200);
  expect(body.map(({ name }: { name: string }) => name)).toEqual([
    'browser-collection',
    'backend-vault',
    'proxy-caller',
    'administrator',
    'agent',
  ]);
  for (const template of body) {
    expect(template).toEqual({
      ...{ id: uuidText, name: expect.any(String), description: expect.any(String) },
      ...{ application_type: expect.any(String), permissions: expect.any(Array), rules: expect.any(Array) },
    });
    expect((await get(`/application-templates/${template.id}`, key)).body).toEqual(template);
  }
});

test('each is what an Application can be created from', async () => {
  for (const { name, application_type: type, permissions, rules } of (await get('/application-templates')).body) {
    const { status, body } = await api.current.send('POST', '/applications', {
      body: { name, type, permissions, rules },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ type, permissions, rules });
  }
});

test('400, 401 and 404', async () => {
  expect((await get('/application-templates/nothing')).status).toBe(400);
  expect((await get(`/application-templates/${randomUUID()}`)).status).toBe(404);
  expect((await get('/application-templates', 'none')).status).toBe(401);
  expect((await get(`/application-templates/${randomUUID()}`, 'none')).status).toBe(401);
});
