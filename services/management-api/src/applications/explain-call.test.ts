import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const cards = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read', 'token:use'] };
const readOnly = { ...cards, permissions: ['token:read'] };
const newName = () => `p-${randomUUID()}`;

interface Part {
  application?: object;
  proxy?: object;
  question?: object;
}

/** Asks whether a new Application may POST to `/v1/charges` of a new Proxy. */
async function ask({ application, proxy, question }: Part, options: { key?: string } = {}) {
  const { id: proxy_id } = await api.current.proxy(proxy);
  const { id } = await api.current.application({ permissions: [], rules: [cards], ...application });
  const body = { proxy_id, method: 'POST', path: '/v1/charges', ...question };
  return api.current.send('POST', `/applications/${id}/explain`, { body, ...options });
}

const another = async () => ({ proxies: [(await api.current.proxy()).id] });

describe('200', () => {
  const byRule = { rule: 0 };
  const byPermission = { permission: 'token:use' };
  const byPaths = { proxy: 'allowed_paths' };

  test.each<[name: string, part: Part, answer: object]>([
    ['a rule', {}, { allowed: true, decided_by: byRule }],
    ['the second rule', { application: { rules: [readOnly, cards] } }, { allowed: true, decided_by: { rule: 1 } }],
    ['a permission', { application: { permissions: ['token:use'] } }, { allowed: true, decided_by: byPermission }],
    ['no grant', { application: { rules: [readOnly] } }, { allowed: false }],
    ['a method of the list', { proxy: { allowed_methods: ['get', 'post'] } }, { allowed: true, decided_by: byRule }],
    [
      'another method',
      { proxy: { allowed_methods: ['GET'] } },
      { allowed: false, decided_by: { proxy: 'allowed_methods' } },
    ],
    ['a path below', { proxy: { allowed_paths: ['/v1'] } }, { allowed: true, decided_by: byRule }],
    ['another path', { proxy: { allowed_paths: ['/v2'] } }, { allowed: false, decided_by: byPaths }],
    [
      'a path that some servers read as another',
      { proxy: { allowed_paths: ['/v1'] }, question: { path: '/v1/%2e%2e/v2' } },
      { allowed: false, decided_by: byPaths },
    ],
    [
      'a query, which does not count',
      { proxy: { allowed_paths: ['/v1'] }, question: { path: '/v1?to=/../v2' } },
      { allowed: true, decided_by: byRule },
    ],
  ])('%s decides', async (_name, part, answer) => {
    const { status, body } = await ask(part);
    expect([status, body]).toEqual([200, { ...answer, reason: expect.any(String) }]);
  });

  test('an Application that names another Proxy is refused by its own member', async () => {
    const { body } = await ask({ application: await another() });
    expect(body).toEqual({
      allowed: false,
      decided_by: { application: 'proxies' },
      reason:
        'The Application may call certain Proxies only, and this is none of them (field proxies of the Application).',
    });
  });

  test('one that names this Proxy may call it', async () => {
    const { id: proxy_id } = await api.current.proxy();
    const { body } = await ask({ application: { proxies: [proxy_id] }, question: { proxy_id } });
    expect(body).toMatchObject({ allowed: true, decided_by: byRule });
  });

  test.each<[name: string, container: string, application: object, answer: object]>([
    ['a rule on it', '/pci/a/', {}, { allowed: true, decided_by: byRule }],
    ['a permission', '/other/', { permissions: ['token:use'] }, { allowed: true, decided_by: byPermission }],
    ['no grant on it', '/other/', {}, { allowed: false }],
  ])('of a token that the call reveals: %s', async (_name, container, application, answer) => {
    const token_id = await api.current.token({ containers: [container] });
    const { body } = await ask({ application, question: { token_id, place: 'header:x-card' } });
    expect(body).toEqual({ ...answer, reason: expect.any(String) });
  });

  test('the Proxy is found by its path_name, too', async () => {
    const path_name = newName();
    await api.current.proxy({ path_name, allowed_methods: ['GET'] });
    const { body } = await ask({ question: { proxy_id: undefined, path_name } });
    expect(body).toMatchObject({ allowed: false, decided_by: { proxy: 'allowed_methods' } });
  });
});

test.each<[member: string, question: object]>([
  ['proxy_id', { path_name: 'a' }],
  ['operation', { operation: 'token:use' }],
  ['method', { method: undefined }],
  ['method', { method: '' }],
  ['path', { path: undefined }],
  ['path', { path: 'v1/charges' }],
  ['place', { place: 'body' }],
  ['place', { place: 'trailer', token_id: 'a' }],
  ['proxy_id', { proxy_id: 'x' }],
])('400 for a faulty %s: %j', async (member, question) => {
  const { status, body } = await ask({ question });
  expect([status, Object.keys(body.errors)]).toEqual([400, [member]]);
});

test('the error of a place says what is allowed', async () => {
  const { body } = await ask({ question: { path_name: 'processor', place: 'trailer', token_id: 'a' } });
  expect(body.errors).toMatchObject({
    place: ['must be body, query, path or header:<name>, for example header:x-api-key'],
  });
});

test('400 for parts of a call beside the question about a token', async () => {
  const { id } = await api.current.application();
  const body = { token_id: 'a', operation: 'token:use', method: 'GET', path: '/', place: 'body' };
  const answer = await api.current.send('POST', `/applications/${id}/explain`, { body });
  expect([answer.status, Object.keys(answer.body.errors).sort()]).toEqual([400, ['method', 'path', 'place']]);
});

test('401 without a key', async () => {
  expect((await ask({}, { key: '' })).status).toBe(401);
});

test('403 for a caller that may not read Proxies, whether or not there is one; a question about a token needs no more', async () => {
  const key = await api.current.keyWith('application:read');
  for (const question of [{}, { proxy_id: randomUUID() }]) {
    const { status, body } = await ask({ question }, { key });
    expect([status, body.detail]).toEqual([403, 'This request also needs the permission proxy:read']);
  }
  const of = { token_id: await api.current.token(), operation: 'token:use' };
  expect(
    (await ask({ question: { proxy_id: undefined, method: undefined, path: undefined, ...of } }, { key })).status,
  ).toBe(200);
  const reader = await api.current.keyWith('proxy:read');
  expect((await ask({}, { key: reader })).body.detail).toContain('application:read');
});

describe('404', () => {
  const detail = 'There is no Proxy with this path_name or proxy_id';

  test('for an unknown Proxy, and one of another Tenant, by id and by name', async () => {
    const path_name = newName();
    const theirs = await api.current.proxy({ path_name }, { key: api.current.stranger.management_key });
    for (const proxy of [{ proxy_id: randomUUID() }, { proxy_id: theirs.id }, { proxy_id: undefined, path_name }]) {
      expect(await ask({ question: proxy })).toMatchObject({ status: 404, body: { detail } });
    }
  });

  test('of one name, each Tenant is answered by its own Proxy', async () => {
    const path_name = newName();
    await api.current.proxy({ path_name, allowed_methods: ['GET'] }, { key: api.current.stranger.management_key });
    await api.current.proxy({ path_name });
    expect((await ask({ question: { proxy_id: undefined, path_name } })).body.allowed).toBe(true);
  });

  test("for another Tenant's token", async () => {
    const token_id = await api.current.token({ tenant_id: api.current.stranger.tenant_id });
    expect(await ask({ question: { token_id } })).toMatchObject({
      status: 404,
      body: { detail: 'There is no token with this token_id' },
    });
  });

  test("for another Tenant's Application", async () => {
    const answer = await ask({}, { key: api.current.stranger.management_key });
    expect(answer).toMatchObject({ status: 404, body: { detail: expect.stringContaining('Application') } });
  });
});
