import { randomUUID } from 'node:crypto';
import { type Answer, type CallOptions, useStack } from '@sluice/testing';
import { shareTestManagement } from './testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const code = 'module.exports = async (req) => ({ raw: req.args })';
const permissions = ['token:read'];
const url = 'https://example.com/in';

interface Resource {
  /** @returns the path of a new one. */
  make(): Promise<string>;
  /** A body of PUT that changes it. */
  put(name: string): object;
  /** A valid body of PUT that the resource itself refuses, and the status. */
  refused?: [body: object, status: number];
}

const named = async (path: string, made: Promise<{ id: string }>) => `${path}/${(await made).id}`;

const resources: Record<string, Resource> = {
  Application: {
    make: () => named('/applications', api.current.application()),
    put: (name) => ({ name, permissions }),
  },
  Proxy: {
    make: () => named('/proxies', api.current.proxy()),
    put: (name) => ({ name, destination_url: url }),
    refused: [{ name: 'P', destination_url: url, request_transform: { code: '(' } }, 422],
  },
  reactor: {
    make: () => named('/reactors', api.current.reactor()),
    put: (name) => ({ name, code }),
    refused: [{ name: 'R', code: '(' }, 422],
  },
  formula: {
    make: () => named('/reactor-formulas', api.current.formula()),
    put: (name) => ({ name, code }),
    refused: [{ name: 'F', code: '(' }, 422],
  },
};

const deletable = Object.entries(resources);
const all: [string, Resource][] = [
  ...deletable,
  ['Tenant', { make: async () => '/tenants/self', put: (name) => ({ name }) }],
];

const send = (method: string, path: string, options?: CallOptions) => api.current.send(method, path, options);
const put = (path: string, body: object, headers: Record<string, string> = {}) => send('PUT', path, { body, headers });
const etagOf = ({ headers }: Answer) => headers.get('etag');
const versionOf = async (path: string) => etagOf(await send('GET', path)) ?? '';
const inQuotes = ({ body }: Answer) => `"${body.modified_at ?? body.created_at}"`;

describe.each(all)('%s', (_name, { make, put: bodyOf }) => {
  test('the ETag is the time of the last change, and each change has another', async () => {
    const path = await make();
    const tags: (string | null)[] = [];
    for (const answer of [await send('GET', path), await put(path, bodyOf('1')), await put(path, bodyOf('1'))]) {
      expect({ status: answer.status, etag: etagOf(answer) }).toEqual({ status: 200, etag: inQuotes(answer) });
      tags.push(etagOf(answer));
    }
    expect(new Set(tags).size).toBe(3);
    expect(await versionOf(path)).toBe(tags[2]);
    expect(etagOf(await send('HEAD', path))).toBe(tags[2]);
  });

  test('of ten who change the same version at once, one succeeds', async () => {
    const path = await make();
    const read = await versionOf(path);
    const names = Array.from({ length: 10 }, () => randomUUID());
    const answers = await Promise.all(names.map((name) => put(path, bodyOf(name), { 'If-Match': read })));
    const done = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 412);
    expect([done.length, refused.length]).toEqual([1, 9]);
    const now = await send('GET', path);
    expect(now.body.name).toBe(done[0]?.body.name);
    for (const { headers, body } of refused) {
      expect(headers.get('etag')).toBe(inQuotes(now));
      expect(body).toMatchObject({ type: 'urn:sluice:problem:precondition_failed', status: 412 });
    }
  });

  test.each<[string, (current: string) => string, number]>([
    ['*', () => '*', 200],
    ['several, one of them current', (current) => `"x", ${current} ,"y"`, 200],
    ['several, none of them current', () => '"x","y"', 412],
    ['the current one as a weak tag', (current) => `W/${current}`, 412],
    ['without quotes', (current) => current.slice(1, -1), 400],
    ['with something beside', (current) => `${current} x`, 400],
    ['empty', () => '', 400],
  ])('If-Match %s', async (_case, headerOf, status) => {
    const path = await make();
    const answer = await put(path, bodyOf('N'), { 'If-Match': headerOf(await versionOf(path)) });
    expect(answer.status).toBe(status);
  });
});

describe.each(deletable)('%s', (_name, { make, put: bodyOf, refused }) => {
  test('a stale DELETE is 412 and deletes nothing; the current version is deleted', async () => {
    const path = await make();
    const stale = await versionOf(path);
    const current = etagOf(await put(path, bodyOf('N'))) ?? '';
    const answer = await send('DELETE', path, { headers: { 'If-Match': stale } });
    expect({ status: answer.status, etag: etagOf(answer) }).toEqual({ status: 412, etag: current });
    expect((await send('DELETE', path, { headers: { 'If-Match': current } })).status).toBe(204);
    expect((await put(path, bodyOf('N'), { 'If-Match': current })).status).toBe(404);
  });

  test('404 is said before 412', async () => {
    const path = (await make()).replace(/[^/]+$/, randomUUID());
    for (const headers of [{ 'If-Match': '"x"' }, { 'If-Match': '*' }]) {
      expect((await put(path, bodyOf('N'), headers)).status).toBe(404);
      expect((await send('DELETE', path, { headers })).status).toBe(404);
    }
  });

  test('created with the ETag that GET shows', async () => {
    const path = await make();
    const [, collection = ''] = path.split('/');
    const body = { ...bodyOf('N'), ...(collection === 'applications' && { type: 'private' }) };
    const created = await send('POST', `/${collection}`, { body });
    expect(created.status).toBe(201);
    expect(etagOf(created)).toBe(await versionOf(`/${collection}/${created.body.id}`));
  });

  if (refused) {
    test(`412 is said before ${refused[1]}`, async () => {
      const path = await make();
      const [body, status] = refused;
      expect((await put(path, body, { 'If-Match': '"x"' })).status).toBe(412);
      expect((await put(path, body, { 'If-Match': await versionOf(path) })).status).toBe(status);
    });
  }
});

describe.each(['Proxy', 'reactor'])('PATCH of a %s', (name) => {
  const patch = (path: string, body: object, headers: Record<string, string> = {}) =>
    send('PATCH', path, { body, headers: { ...headers, 'Content-Type': 'application/merge-patch+json' } });

  test('the 204 has the ETag of the new version, a replay of it none', async () => {
    const path = (await resources[name]?.make()) ?? '';
    const headers = { 'If-Match': await versionOf(path), 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const first = await patch(path, { name: 'New' }, headers);
    const current = await versionOf(path);
    expect({ status: first.status, etag: etagOf(first) }).toEqual({ status: 204, etag: current });
    const replay = await patch(path, { name: 'New' }, headers);
    expect({ status: replay.status, etag: etagOf(replay) }).toEqual({ status: 204, etag: null });
    const other = await patch(path, { name: 'New' }, { ...headers, 'If-Match': current });
    expect(other.status).toBe(409);
    const stale = await patch(path, { name: 'Newer' }, { 'If-Match': headers['If-Match'] });
    expect({ status: stale.status, etag: etagOf(stale) }).toEqual({ status: 412, etag: current });
  });
});

test('a member: stale is 412, said after 403 and before 422', async () => {
  const { memberId, management, tenant } = { ...api.current, management: '/tenants/self/members' };
  const path = `${management}/${await memberId()}`;
  const first = await put(path, { role: 'AUDITOR' });
  expect({ status: first.status, etag: etagOf(first) }).toEqual({ status: 200, etag: inQuotes(first) });
  const current = { 'If-Match': etagOf(first) ?? '' };
  expect((await put(path, { role: 'DEVELOPER' }, current)).status).toBe(200);
  expect((await put(path, { role: 'AUDITOR' }, current)).status).toBe(412);
  expect((await send('DELETE', path, { headers: current })).status).toBe(412);
  const held = ['tenant:member:update', 'tenant:member:delete'];
  const weak = await api.current.application({ type: 'management', permissions: held }, { key: tenant.management_key });
  const byWeak = { key: weak.key, headers: current };
  expect((await send('PUT', path, { body: { role: 'AUDITOR' }, ...byWeak })).status).toBe(403);
  expect((await send('DELETE', path, byWeak)).status).toBe(403);
});

test('keys make no version of their Application, regenerate does', async () => {
  const path = await named('/applications', api.current.application());
  const before = await versionOf(path);
  expect((await send('POST', `${path}/keys`)).status).toBe(201);
  expect(await versionOf(path)).toBe(before);
  const regenerated = await send('POST', `${path}/regenerate`);
  expect(etagOf(regenerated)).toBe(await versionOf(path));
  expect(etagOf(regenerated)).not.toBe(before);
});

test('an Application that is deleted makes no version of its Proxy, restoring a version does', async () => {
  const application = await api.current.application();
  const path = await named('/proxies', api.current.proxy({ application: { id: application.id } }));
  const before = await versionOf(path);
  await send('DELETE', `/applications/${application.id}`);
  expect(await versionOf(path)).toBe(before);
  const restored = await send('POST', `${path}/versions/1/restore`);
  expect({ status: restored.status, etag: etagOf(restored) }).toEqual({ status: 200, etag: await versionOf(path) });
  expect(etagOf(restored)).not.toBe(before);
});

test('a clock that goes back gives a later ETag all the same', async () => {
  const { db, proxy } = api.current;
  const { id } = await proxy();
  const ahead = '2999-01-01T00:00:00.000Z';
  await db.updateTable('proxies').set({ modified_at: ahead }).where('id', '=', id).execute();
  const changed = await put(`/proxies/${id}`, { name: 'N', destination_url: url });
  expect(changed.body.modified_at).toBe('2999-01-01T00:00:00.001Z');
});
