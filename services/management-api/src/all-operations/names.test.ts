import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const kinds = [
  ['applications', '/applications', { type: 'private', permissions: ['token:create'] }],
  ['proxies', '/proxies', { destination_url: 'https://example.com' }],
  ['reactors', '/reactors', { code: 'module.exports = async () => {}' }],
  ['reactor_formulas', '/reactor-formulas', { code: 'module.exports = async () => {}' }],
] as const;

const bad = [
  '',
  '  ',
  '\u00a0\u2003',
  'a\nb',
  'a\u0007',
  'a\u007f',
  'a\u00adb',
  'a\u200bb',
  '\ufeffa',
  'a\u202eb',
  'a\u2066b',
  'a\u2028b',
  'a\u2029b',
  'x'.repeat(201),
  '\u{1f511}'.repeat(201),
];

const good = [
  ['  a name\u00a0', 'a name'],
  ['\u{1f469}\u200d\u{1f52c}', '\u{1f469}\u200d\u{1f52c}'],
  ['\u0646\u0627\u0645\u0647\u200c\u0627\u06cc', '\u0646\u0627\u0645\u0647\u200c\u0627\u06cc'],
  ['\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}', '\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}'],
  ['\u{1f511}'.repeat(200), '\u{1f511}'.repeat(200)],
  [` ${'x'.repeat(200)} `, 'x'.repeat(200)],
] as const;

const faulty = { status: 400, body: { errors: { name: [expect.any(String)] } } };
const merge = { headers: { 'Content-Type': 'application/merge-patch+json' } };

describe.each(kinds)('%s', (table, path, rest) => {
  test.each(bad)('are not named %j', async (name) => {
    const { send } = api.current;
    expect(await send('POST', path, { body: { ...rest, name } })).toMatchObject(faulty);
    const { body } = await send('POST', path, { body: { ...rest, name: 'good' } });
    expect(await send('PUT', `${path}/${body.id}`, { body: { ...rest, name } })).toMatchObject(faulty);
    expect(await send('PUT', `${path}/${randomUUID()}`, { body: { ...rest, name } })).toMatchObject(faulty);
    if (path === '/proxies' || path === '/reactors') {
      expect(await send('PATCH', `${path}/${body.id}`, { body: { name }, ...merge })).toMatchObject(faulty);
    }
  });

  test.each(good)('named %j are %j', async (name, stored) => {
    const { send } = api.current;
    const { status, body } = await send('POST', path, { body: { ...rest, name } });
    expect([status, body.name]).toEqual([201, stored]);
    const put = await send('PUT', `${path}/${body.id}`, { body: { ...rest, name } });
    expect([put.status, put.body.name]).toEqual([200, stored]);
  });

  test('keep a name from before these rules, until another is sent', async () => {
    const { send, db } = api.current;
    const { body } = await send('POST', path, { body: { ...rest, name: 'good' } });
    const old = ' old\u200b ';
    await db.updateTable(table).set({ name: old }).where('id', '=', body.id).execute();
    const put = await send('PUT', `${path}/${body.id}`, { body: { ...rest, name: old } });
    expect([put.status, put.body.name]).toEqual([200, old]);
    if (path === '/proxies' || path === '/reactors') {
      const patched = await send('PATCH', `${path}/${body.id}`, { body: { name: old }, ...merge });
      expect(patched.status).toBe(204);
    }
    expect(await send('PUT', `${path}/${body.id}`, { body: { ...rest, name: `${old}x` } })).toMatchObject(faulty);
  });
});

test('a version of a Proxy with an old name is restored', async () => {
  const { send, db } = api.current;
  const rest = { destination_url: 'https://example.com' };
  const { body } = await send('POST', '/proxies', { body: { ...rest, name: 'good' } });
  const old = 'old\u200b';
  await db.updateTable('proxies').set({ name: old }).where('id', '=', body.id).execute();
  expect((await send('PUT', `/proxies/${body.id}`, { body: { ...rest, name: 'new' } })).status).toBe(200);
  const restored = await send('POST', `/proxies/${body.id}/versions/1/restore`);
  expect([restored.status, restored.body.name]).toEqual([200, old]);
});

test('so it is for the Tenant', async () => {
  const { anotherTenant, send, db } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('Good');
  const put = (name: string) => send('PUT', '/tenants/self', { key, body: { name } });
  for (const name of bad) expect(await put(name)).toMatchObject(faulty);
  for (const [name, stored] of good) expect((await put(name)).body.name).toBe(stored);
  await db.updateTable('tenants').set({ name: ' old ' }).where('id', '=', tenant_id).execute();
  expect((await put(' old ')).body.name).toBe(' old ');
});

describe('keys of an Application', () => {
  const add = async (name: string) => {
    const { send, application } = api.current;
    const { id } = await application();
    return send('POST', `/applications/${id}/keys`, { body: { name } });
  };

  test.each(bad)('are not named %j', async (name) => {
    expect(await add(name)).toMatchObject(faulty);
  });

  test.each(good)('named %j are %j', async (name, stored) => {
    expect(await add(name)).toMatchObject({ status: 201, body: { name: stored } });
  });
});
