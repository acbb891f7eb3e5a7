import { randomUUID } from 'node:crypto';
import { findCaller, hashKey, readPepper } from '@sluice/credentials';
import { useStack } from '@sluice/testing';
import { isoDate, shareTestManagement, uuidText } from '../../testing/test-management.ts';

const api = useStack(() => shareTestManagement());
const future = '2999-01-02T03:04:05.678Z';

const add = (id: string, body?: object, options: object = {}) =>
  api.current.send('POST', `/applications/${id}/keys`, { ...(body && { body }), ...options });
const list = (id: string) => api.current.send('GET', `/applications/${id}/keys`);
const get = (id: string, keyId: string) => api.current.send('GET', `/applications/${id}/keys/${keyId}`);
const remove = (id: string, keyId: string) => api.current.send('DELETE', `/applications/${id}/keys/${keyId}`);

/** Before the checksum. */
const lastFour = (key: string) => key.slice(-10, -6);

/** Every private key may list the permissions. */
async function isAccepted(key: string): Promise<boolean> {
  const { status } = await api.current.send('GET', '/permissions', { key });
  if (status !== 200 && status !== 401) throw new Error(`answered ${status}`);
  return status === 200;
}

async function expire(keyId: string): Promise<void> {
  await api.current.db
    .updateTable('application_keys')
    .set({ expires_at: new Date(Date.now() - 1).toISOString() })
    .where('id', '=', keyId)
    .execute();
}

describe('create', () => {
  test('answers 201 with the key, once, and its Location; both keys are accepted', async () => {
    const { application, tenant } = api.current;
    const { id, key: first } = await application();
    const { status, headers, body } = await add(id);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: uuidText,
      version: 2,
      last_four: expect.stringMatching(/^[0-9A-Za-z]{4}$/),
      created_by: tenant.application_id,
      created_at: isoDate,
      key: expect.stringMatching(/^svc_test_prv_[0-9A-Za-z]{49}$/),
    });
    expect(headers.get('location')).toBe(`/applications/${id}/keys/${body.id}`);
    expect(headers.get('svc-revocation')).toMatch(/^change=/);
    expect([await isAccepted(first), await isAccepted(body.key)]).toEqual([true, true]);
    const { key: _, ...withoutKey } = body;
    expect((await get(id, body.id)).body).toEqual(withoutKey);
  });

  test('the last four characters of its random part are shown, and nothing else of it, here or in its row', async () => {
    const { db } = api.current;
    const { id, key: first } = await api.current.application();
    const { body } = await add(id);
    const { body: keys } = await list(id);
    expect(keys.map((key: { last_four: string }) => key.last_four)).toEqual([body.key, first].map(lastFour));
    const row = await db.selectFrom('application_keys').selectAll().where('id', '=', body.id).executeTakeFirstOrThrow();
    const { key_hash: hash, ...members } = row;
    const shown = JSON.stringify([keys, members]);
    const random: string = body.key.split('_').at(-1);
    const parts = Array.from({ length: random.length - 4 }, (_, at) => random.slice(at, at + 5));
    expect(parts.filter((part) => shown.includes(part))).toEqual([]);
    expect(hash).toHaveLength(32);
  });

  test('the name is kept without blanks at both ends', async () => {
    const { id } = await api.current.application();
    const { status, body } = await add(id, { name: '  Backend in Frankfurt ', expires_at: future });
    expect([status, body.name, body.expires_at]).toEqual([201, 'Backend in Frankfurt', future]);
    expect((await get(id, body.id)).body.name).toBe('Backend in Frankfurt');
    expect((await add(id, { name: '𝄞'.repeat(200) })).status).toBe(201);
    expect((await add(id, { name: 'Backend in Frankfurt' })).status).toBe(201);
  });

  test.each([
    ['is empty', ''],
    ['has blanks only', '  '],
    ['is too long', 'x'.repeat(201)],
    ['has a direction character', 'a\u202eb'],
    ['is a number', 5],
  ])('a name that %s is 400, and says where', async (_, name) => {
    const { id } = await api.current.application();
    const { status, body } = await add(id, { name });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['name']]);
    expect((await list(id)).body).toHaveLength(1);
  });

  test('a body may be left out, be empty, or hold null', async () => {
    const { id } = await api.current.application();
    for (const body of [undefined, {}, { name: null, expires_at: null }])
      expect((await add(id, body)).status).toBe(201);
  });

  test.each([
    ['a date of the past', { expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    ['a date that is none', { expires_at: 'soon' }, 'expires_at'],
    ['a misspelt member', { expire_at: future }, 'expire_at'],
    ['an array', [], '$'],
  ])('%s is 400, and says where', async (_, body, where) => {
    const { id } = await api.current.application();
    const { status, body: problem } = await add(id, body);
    expect([status, Object.keys(problem.errors)]).toEqual([400, [where]]);
  });

  test('another content type is 415, a body that is too large 413', async () => {
    const { id } = await api.current.application();
    expect((await add(id, {}, { headers: { 'Content-Type': 'text/plain' } })).status).toBe(415);
    expect((await add(id, { note: 'x'.repeat(1_100_000) })).status).toBe(413);
  });

  test('a sixth key is 422; one that has expired is not counted', async () => {
    const { id } = await api.current.application();
    const added = [];
    for (let i = 0; i < 4; i++) added.push((await add(id)).body);
    const refused = await add(id);
    expect(refused).toMatchObject({ status: 422, body: { title: 'Limit reached' } });
    await expire(added[1].id);
    expect((await add(id)).body.version).toBe(6);
  });

  test('of many at once, five keys is the most', async () => {
    const { id } = await api.current.application();
    const answers = await Promise.all(Array.from({ length: 12 }, () => add(id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(8);
    expect((await list(id)).body).toHaveLength(5);
  });

  test('an idempotency key makes one key; a replay never shows it when it is gone', async () => {
    const { id } = await api.current.application();
    const options = { headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() } };
    const first = await add(id, undefined, options);
    expect((await add(id, undefined, options)).body).toEqual(first.body);
    expect((await list(id)).body).toHaveLength(2);
    await remove(id, first.body.id);
    const { key: _, ...withoutKey } = first.body;
    expect(await add(id, undefined, options)).toMatchObject({ status: 201, body: withoutKey });
    expect((await add(id, undefined, options)).body).not.toHaveProperty('key');
  });

  test('another body under the same idempotency key is 409', async () => {
    const { id } = await api.current.application();
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    expect((await add(id, {}, { headers })).status).toBe(201);
    expect((await add(id, { expires_at: '2999-01-01' }, { headers })).status).toBe(409);
    expect((await add(id, { name: 'N' }, { headers })).status).toBe(409);
  });

  test('a replay does not show a key that has expired, nor one of an Application that is gone', async () => {
    const { send, application } = api.current;
    for (const end of [
      (_: string, keyId: string) => expire(keyId),
      (id: string) => send('DELETE', `/applications/${id}`),
    ]) {
      const { id } = await application();
      const options = { headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() } };
      const first = await add(id, undefined, options);
      await end(id, first.body.id);
      expect((await add(id, undefined, options)).body).not.toHaveProperty('key');
    }
  });
});

describe('list and get', () => {
  test('newest first, never a key; versions count up and are not used again', async () => {
    const { id } = await api.current.application();
    const second = (await add(id)).body;
    await remove(id, second.id);
    await add(id, { expires_at: future });
    const { status, body } = await list(id);
    expect(status).toBe(200);
    expect(body).toMatchObject([{ version: 3, expires_at: future }, { version: 1 }]);
    expect(JSON.stringify(body)).not.toMatch(/svc_test|hash/);
  });

  test('when a key was last used is shown, to its own Tenant', async () => {
    const { db, tenant, send, stranger } = api.current;
    const { id } = await api.current.application();
    const { body: used } = await add(id);
    const at = '2026-01-02T03:00:00.000Z';
    const use = { tenant_id: tenant.tenant_id, application_id: id, key_id: used.id, last_used_at: at };
    await db.insertInto('key_uses').values(use).execute();
    const { body } = await list(id);
    expect(body.map((key: { last_used_at?: string }) => key.last_used_at)).toEqual([at, undefined]);
    expect((await get(id, used.id)).body.last_used_at).toBe(at);
    expect((await send('GET', `/applications/${id}/keys`, { key: stranger.management_key })).status).toBe(404);
    await remove(id, used.id);
    expect(await db.selectFrom('key_uses').select('key_id').where('key_id', '=', used.id).execute()).toEqual([]);
  });

  test('a key that a former version made has neither name nor last characters', async () => {
    const { db } = api.current;
    const { id } = await api.current.application();
    await db
      .updateTable('applications')
      .set({ key_hash: hashKey(readPepper(randomUUID()), 'key') })
      .where('id', '=', id)
      .execute();
    const { body } = await list(id);
    expect(Object.keys(body[0]).sort()).toEqual(['created_at', 'created_by', 'id', 'version']);
  });

  test('an expired key is not listed and 404', async () => {
    const { id } = await api.current.application();
    const { body } = await add(id);
    await expire(body.id);
    expect((await list(id)).body).toHaveLength(1);
    expect((await get(id, body.id)).status).toBe(404);
    expect((await remove(id, body.id)).status).toBe(404);
  });
});

describe('delete', () => {
  test('the key is refused once it answers, the others stay', async () => {
    const { id, key } = await api.current.application();
    const { body: second } = await add(id);
    const [newest, oldest] = (await list(id)).body;
    expect(newest.id).toBe(second.id);
    const { status, headers } = await remove(id, oldest.id);
    expect(status).toBe(204);
    expect(headers.get('svc-revocation')).toMatch(/^change=/);
    expect([await isAccepted(key), await isAccepted(second.key)]).toEqual([false, true]);
    expect((await remove(id, oldest.id)).status).toBe(404);
  });

  test('the last key is 422', async () => {
    const { id, key } = await api.current.application();
    const [only] = (await list(id)).body;
    expect(await remove(id, only.id)).toMatchObject({ status: 422, body: { title: 'Limit reached' } });
    expect(await isAccepted(key)).toBe(true);
  });

  test('of two at once that would delete the last two, one is 422', async () => {
    const { id } = await api.current.application();
    await add(id);
    const keys: { id: string }[] = (await list(id)).body;
    const answers = await Promise.all(keys.map((key) => remove(id, key.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 422]);
  });
});

test('regenerate replaces all keys by one', async () => {
  const { send, application } = api.current;
  const { id, key } = await application();
  const { body: second } = await add(id);
  const { body } = await send('POST', `/applications/${id}/regenerate`);
  expect([await isAccepted(key), await isAccepted(second.key), await isAccepted(body.key)]).toEqual([
    false,
    false,
    true,
  ]);
  expect((await list(id)).body).toMatchObject([{ version: 3, last_four: lastFour(body.key) }]);
});

test('a key is refused from its moment on; expiry may leave none', async () => {
  const { db } = api.current;
  const { id, key } = await api.current.application();
  const { body: second } = await add(id, { expires_at: future });
  expect(await isAccepted(second.key)).toBe(true);
  const [, oldest] = (await list(id)).body;
  expect((await remove(id, oldest.id)).status).toBe(204); // the remaining key expires
  await expire(second.id);
  expect([await isAccepted(key), await isAccepted(second.key)]).toEqual([false, false]);
  expect((await list(id)).body).toEqual([]);
  const { key_hash } = await db
    .selectFrom('applications')
    .select('key_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(key_hash).toBeNull();
  expect((await add(id)).status).toBe(201);
});

test('callers are cached for no longer than the key and the Application have both', async () => {
  const { db, secrets, application } = api.current;
  const { id } = await application({ expires_at: '2998-01-01T00:00:00.000Z' });
  const { body } = await add(id, { expires_at: '2997-01-01T00:00:00.000Z' });
  const later = (await add(id, { expires_at: future })).body;
  const pepper = readPepper(secrets.KEY_PEPPER);
  const found = async (key: string) => (await findCaller(db, hashKey(pepper, key)))?.expires_at;
  expect([await found(body.key), await found(later.key)]).toEqual([
    '2997-01-01T00:00:00.000Z',
    '2998-01-01T00:00:00.000Z',
  ]);
});

describe('refusals', () => {
  const operations = (id: string, keyId: string) =>
    [
      ['GET', `/applications/${id}/keys`],
      ['POST', `/applications/${id}/keys`],
      ['GET', `/applications/${id}/keys/${keyId}`],
      ['DELETE', `/applications/${id}/keys/${keyId}`],
    ] as const;

  test('without a key 401, without the permission 403', async () => {
    const { send, application, keyWith } = api.current;
    const { id } = await application();
    const { body } = await add(id);
    const reader = await keyWith('application:read');
    const deleter = await keyWith('application:delete');
    for (const [method, path] of operations(id, body.id)) {
      expect((await send(method, path, { key: 'nothing' })).status).toBe(401);
      expect((await send(method, path, { key: deleter })).status).toBe(403);
      expect((await send(method, path, { key: reader })).status).toBe(method === 'GET' ? 200 : 403);
    }
  });

  test('an unknown id, one that is no UUID, and another Tenant’s', async () => {
    const { send, application, stranger } = api.current;
    const theirs = await application({}, { key: stranger.management_key });
    const theirKeys = (await send('GET', `/applications/${theirs.id}/keys`, { key: stranger.management_key })).body;
    for (const [id, status] of [
      [randomUUID(), 404],
      ['nothing', 400],
      [theirs.id, 404],
    ] as const) {
      for (const [method, path] of operations(id, theirKeys[0].id)) {
        expect([method, path, (await send(method, path)).status]).toEqual([method, path, status]);
      }
    }
  });

  test('a key of another Application of the Tenant is 404', async () => {
    const one = await api.current.application();
    const other = await api.current.application();
    const { body } = await add(other.id);
    await add(one.id);
    expect((await get(one.id, body.id)).status).toBe(404);
    expect((await remove(one.id, body.id)).status).toBe(404);
    expect(await isAccepted(body.key)).toBe(true);
  });
});

test('each change is a row of the audit log, without the key', async () => {
  const { db, tenant } = api.current;
  const { id } = await api.current.application();
  const { body } = await add(id);
  await remove(id, body.id);
  const rows = await db
    .selectFrom('audit_log')
    .select(['operation', 'message', 'actor_id', 'detail'])
    .where('entity_id', '=', id)
    .orderBy('at')
    .execute();
  const detail = { key_id: body.id, key_version: 2 };
  expect(rows).toMatchObject([
    { operation: 'create' },
    { operation: 'update', message: 'Key added to the Application', actor_id: tenant.application_id, detail },
    { operation: 'update', message: 'Key removed from the Application', actor_id: tenant.application_id, detail },
  ]);
  expect(JSON.stringify(rows)).not.toContain(body.key);
});
