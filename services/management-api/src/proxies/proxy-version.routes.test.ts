import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { shareTestConsole } from '../testing/test-console.ts';
import { isoDate } from '../testing/test-management.ts';

const api = useStack(() => shareTestConsole());

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const code = (text: string) => ({ code: `module.exports = async () => '${text}'` });

async function patch(id: string, body: object) {
  const { status } = await api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });
  expect(status).toBe(204);
}

const get = (id: string, rest = '') => api.current.send('GET', `/proxies/${id}${rest}`);
const restore = (id: string, version: number, options = {}) =>
  api.current.send('POST', `/proxies/${id}/versions/${version}/restore`, options);

/** Three versions: as made, with other code, with another configuration. */
async function changedTwice() {
  const made = await api.current.proxy({ configuration: { SECRET: 'the first' }, request_transform: code('a') });
  await patch(made.id, { request_transform: code('b') });
  await patch(made.id, { name: 'Renamed', configuration: { SECRET: 'the second', MORE: 'x' } });
  return made;
}

describe('list', () => {
  test('has the Proxy as it is first, and of each version who made it, when, and what it changed', async () => {
    const { id } = await changedTwice();
    const { status, body } = await get(id, '/versions');
    const by = api.current.tenant.application_id;
    expect(status).toBe(200);
    expect(body).toEqual({
      pagination: { total_items: 3, page_number: 1, page_size: 20, total_pages: 1 },
      data: [
        { version: 3, at: isoDate, by, changed: ['name', 'configuration'] },
        { version: 2, at: isoDate, by, changed: ['request_transform'] },
        { version: 1, at: isoDate, by, changed: [] },
      ],
    });
    const { created_at, modified_at } = (await get(id)).body;
    expect([body.data[0].at, body.data[2].at]).toEqual([modified_at, created_at]);
  });

  test('takes page and size; past the end it is empty', async () => {
    const { id } = await changedTwice();
    const { body } = await get(id, '/versions?page=2&size=2');
    expect(body.data.map(({ version }: { version: number }) => version)).toEqual([1]);
    expect((await get(id, '/versions?page=9')).body).toMatchObject({ pagination: { total_items: 3 }, data: [] });
    expect((await get(id, '/versions?size=101')).status).toBe(400);
  });

  test('a change that changes nothing makes no version', async () => {
    const { id } = await api.current.proxy({ configuration: { A: '1' } });
    await patch(id, { configuration: { A: '1' } });
    await patch(id, {});
    expect((await get(id, '/versions')).body.data).toHaveLength(1);
  });

  test('names the Application as answers do', async () => {
    const { id } = await api.current.proxy();
    await patch(id, { application: { id: (await api.current.application()).id } });
    expect((await get(id, '/versions')).body.data[0].changed).toEqual(['application_id']);
  });
});

describe('a version', () => {
  test('is whole, as the Proxy was answered then', async () => {
    const made = await changedTwice();
    expect((await get(made.id, '/versions/1')).body).toEqual(made);
    const second = (await get(made.id, '/versions/2')).body;
    expect(second).toMatchObject({ ...made, request_transform: code('b'), modified_by: made.created_by });
    expect((await get(made.id, '/versions/3')).body).toEqual((await get(made.id)).body);
  });

  test('leaves out an Application that is gone', async () => {
    const { application, proxy, send } = api.current;
    const { id: applicationId } = await application();
    const { id } = await proxy({ application: { id: applicationId } });
    await patch(id, { name: 'Other' });
    expect((await get(id, '/versions/1')).body.application_id).toBe(applicationId);
    await send('DELETE', `/applications/${applicationId}`);
    expect((await get(id, '/versions/1')).body).not.toHaveProperty('application_id');
  });

  test.each([
    ['4', 404],
    ['0', 400],
    ['x', 400],
    ['1.5', 400],
    ['99999999999', 400],
  ])('%s is %i', async (version, expected) => {
    const { id } = await changedTwice();
    expect((await get(id, `/versions/${version}`)).status).toBe(expected);
  });

  test('hides its values from a person who may not change the Proxy, like the Proxy itself', async () => {
    const { id } = await changedTwice();
    const { send } = await api.current.member('AUDITOR');
    const hidden = { key: '[hidden]', configuration: { SECRET: '[hidden]' } };
    expect((await send('GET', `/api/proxies/${id}/versions/1`)).body).toMatchObject(hidden);
    const { send: developer } = await api.current.member('DEVELOPER');
    expect((await developer('GET', `/api/proxies/${id}/versions/1`)).body.configuration).toEqual({
      SECRET: 'the first',
    });
  });

  test('keeps values and code encrypted', async () => {
    const { id } = await changedTwice();
    const { db } = api.current;
    const rows = await db.selectFrom('proxy_versions').selectAll().where('proxy_id', '=', id).execute();
    expect(rows).toHaveLength(2);
    for (const { definition_ciphertext } of rows) {
      expect(definition_ciphertext.toString('latin1')).not.toMatch(/the first|module/);
    }
  });
});

describe('restore', () => {
  test('makes a former version the newest one, in force when it is answered', async () => {
    const made = await changedTwice();
    const { status, headers, body } = await restore(made.id, 1);
    expect(status).toBe(200);
    expect(headers.get('svc-revocation')).toContain('change=');
    expect(body).toEqual({ ...made, modified_by: made.created_by, modified_at: isoDate });
    expect((await get(made.id)).body).toEqual(body);
    const { data } = (await get(made.id, '/versions')).body;
    expect(data[0]).toMatchObject({ version: 4, changed: ['name', 'request_transform', 'configuration'] });
    expect((await get(made.id, '/versions/3')).body.configuration).toEqual({ SECRET: 'the second', MORE: 'x' });
  });

  test('is one row of the log that names the version', async () => {
    const { id } = await changedTwice();
    await restore(id, 2);
    const { body } = await api.current.send('GET', `/logs?entity_id=${id}&size=1`);
    expect(body.data[0]).toMatchObject({ operation: 'update', detail: { restored_version: 2 } });
  });

  test('acts once under an idempotency key', async () => {
    const { id } = await changedTwice();
    const headers = { 'SVC-IDEMPOTENCY-KEY': `restore-${id}` };
    const first = await restore(id, 1, { headers });
    const again = await restore(id, 1, { headers });
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect((await get(id, '/versions')).body.data).toHaveLength(4);
  });

  test('checks the destination again, and leaves out an Application that is gone', async () => {
    const { application, db, proxy, send } = api.current;
    const { id: applicationId } = await application();
    const { id } = await proxy({ application: { id: applicationId } });
    await patch(id, { name: 'Other' });
    await send('DELETE', `/applications/${applicationId}`);
    expect((await restore(id, 1)).body).not.toHaveProperty('application_id');
    await db.updateTable('proxies').set({ destination_url: 'ftp://example.com' }).where('id', '=', id).execute();
    await patch(id, { destination_url: 'https://example.com' });
    const { status, body } = await restore(id, (await get(id, '/versions')).body.data[1].version);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['destination_url']]);
  });

  test('a version that there is not is 404, and needs proxy:update', async () => {
    const { id } = await changedTwice();
    expect((await restore(id, 9)).status).toBe(404);
    const key = await api.current.keyWith('proxy:read', 'proxy:create', 'proxy:delete');
    expect((await restore(id, 1, { key })).status).toBe(403);
  });
});

describe('limits', () => {
  const versionsOf = async (id: string): Promise<number[]> =>
    (await get(id, '/versions?size=100')).body.data.map(({ version }: { version: number }) => version);

  test('a hundred versions are kept, the newest ones', async () => {
    const { db, proxy, tenant } = api.current;
    const { id } = await proxy();
    const former = { tenant_id: tenant.tenant_id, proxy_id: id, at: new Date().toISOString(), changed_members: [] };
    await db
      .insertInto('proxy_versions')
      .values(
        Array.from({ length: 99 }, (_, i) => ({
          ...former,
          id: crypto.randomUUID(),
          version: i + 1,
          definition_ciphertext: Buffer.from('x'),
        })),
      )
      .execute();
    await db.updateTable('proxies').set({ version: 100 }).where('id', '=', id).execute();
    expect(await versionsOf(id)).toHaveLength(100);
    await patch(id, { name: 'One more' });
    const versions = await versionsOf(id);
    expect([versions.length, versions[0], versions.at(-1)]).toEqual([100, 101, 2]);
  });

  test('of 8 MiB, the oldest ones go', async () => {
    const { db, proxy, tenant } = api.current;
    const { id } = await proxy();
    const former = { tenant_id: tenant.tenant_id, proxy_id: id, at: new Date().toISOString(), changed_members: [] };
    for (const version of [1, 2, 3, 4]) {
      const definition_ciphertext = Buffer.alloc(2.5 * 2 ** 20);
      await db
        .insertInto('proxy_versions')
        .values({ ...former, id: crypto.randomUUID(), version, definition_ciphertext })
        .execute();
    }
    await db.updateTable('proxies').set({ version: 5 }).where('id', '=', id).execute();
    await patch(id, { name: 'One more' });
    expect(await versionsOf(id)).toEqual([6, 5, 4, 3, 2]);
  });

  test('go with their Proxy, also where a version that does not know them deletes it', async () => {
    const { db, send } = api.current;
    const { id } = await changedTwice();
    await send('DELETE', `/proxies/${id}`);
    expect(await db.selectFrom('proxy_versions').select('id').where('proxy_id', '=', id).execute()).toEqual([]);
    const other = await changedTwice();
    await db.deleteFrom('proxies').where('id', '=', other.id).execute();
    expect(await db.selectFrom('proxy_versions').select('id').where('proxy_id', '=', other.id).execute()).toEqual([]);
  });
});

test('a change that waits for another keeps what that one made as a version too', async () => {
  const { db, proxy, send } = api.current;
  const { id } = await proxy({ name: 'first' });
  const body = { name: 'third', destination_url: 'https://example.com' };
  const { answer } = await db.transaction().execute(async (tx) => {
    await sql`update proxies set name = 'second', version = 2 where id = ${id}::uuid`.execute(tx);
    const answer = send('PUT', `/proxies/${id}`, { body });
    await untilLockIsAwaited(db);
    return { answer };
  });
  expect((await answer).status).toBe(200);
  expect((await get(id, '/versions/2')).body.name).toBe('second');
});
