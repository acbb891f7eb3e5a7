import { useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);

const value = 'canary of binding';
const headers = { 'Content-Type': 'application/merge-patch+json' };

async function createScene(part: object = {}) {
  const { createTenant, createKey, createMember, send } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const { body: token } = await send('POST', '/tokens', { key, body: { data: value, ...part } });
  const path = `/tokens/${token.id}`;
  const as = async (role: 'OWNER' | 'ADMIN' | 'DEVELOPER' | 'AUDITOR') => {
    const member = await createMember(tenantId, role);
    const bind = (body: object, more: Record<string, string> = {}) =>
      member.send('PATCH', `/api${path}`, { body, headers: { ...headers, ...more } });
    return { ...member, bind };
  };
  const get = async () => (await send('GET', path, { key })).body;
  return { tenantId, key, token, path, as, get };
}

test.each(['OWNER', 'ADMIN', 'DEVELOPER'] as const)(
  '200 for %s, without a value, confirmed and in the log',
  async (role) => {
    const { tenantId, token, as, get } = await createScene({ mask: '{{ data | last4 }}' });
    const { userId, bind } = await as(role);
    const answer = await bind({ use: { methods: ['post'], max_uses: 5 } });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...{ id: token.id, type: 'token', tenant_id: tenantId, containers: token.containers },
        ...{ modified_by: userId, modified_at: expect.any(String) },
      },
    ]);
    expect(answer.headers.get('svc-revocation')).toMatch(/^change=/);
    expect(await get()).toEqual({
      ...token,
      ...{
        use: { methods: ['POST'], max_uses: 5 },
        uses: 0,
        modified_by: userId,
        modified_at: answer.body.modified_at,
      },
    });
    const rows = await service.current.db
      .selectFrom('audit_log')
      .select(['actor_id', 'actor_type', 'operation', 'entity_id', 'detail'])
      .where('tenant_id', '=', tenantId)
      .where('actor_id', '=', userId)
      .execute();
    const detail = { members: ['use'] };
    expect(rows).toEqual([{ actor_id: userId, actor_type: 'user', operation: 'update', entity_id: token.id, detail }]);
  },
);

test('200 for less than before; 403, naming the member, for more, and for nothing', async () => {
  const { as, get } = await createScene({ use: { destinations: ['*.example.com'], max_uses: 3 } });
  const { bind } = await as('OWNER');
  const least = { destinations: ['api.example.com'], max_uses: 2 };
  expect((await bind({ use: least })).status).toBe(200);
  for (const [use, member] of [
    [{ ...least, destinations: ['*.example.com'] }, 'destinations'],
    [{ ...least, max_uses: 3 }, 'max_uses'],
    [{ max_uses: 2 }, 'destinations'],
  ] as const) {
    const { status, body } = await bind({ use });
    expect([status, body.detail]).toEqual([
      403,
      `use.${member}: this change would allow more use of the token than now. Only the key of a private Application can make such a change, and only if a rule of the Application reveals the token`,
    ]);
  }
  expect((await get()).use).toEqual(least);
});

test.each([
  [{ use: { destinations: ['example.com', 'https://example.com'] } }, ['use.destinations[1]']],
  [{ use: { max_uses: 0 } }, ['use.max_uses']],
  [{ use: { until: '2020-01-01' } }, ['use.until']],
  [{ use: {} }, ['use']],
  [{ use: null }, ['use']],
  [{}, ['use']],
  [{ use: { max_uses: 1 }, data: 'another' }, ['data']],
  [{ use: { max_uses: 1 }, containers: ['/a/'] }, ['containers']],
])('400 for %j, and nothing is changed', async (body, members) => {
  const { token, as, get } = await createScene();
  const answer = await (await as('OWNER')).bind(body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, members]);
  expect(await get()).toEqual(token);
});

test('401 without a cookie, and with a key alone', async () => {
  const { key, path, as } = await createScene();
  const { send } = await as('OWNER');
  for (const more of [{}, { key }]) {
    const given = { ...more, body: { use: { max_uses: 1 } }, headers: { ...headers, Cookie: '' } };
    expect((await send('PATCH', `/api${path}`, given)).status).toBe(401);
  }
});

test('403 for who may not change Applications, and for what comes from elsewhere', async () => {
  const { token, as, get } = await createScene();
  const { status, body } = await (await as('AUDITOR')).bind({ use: { max_uses: 1 } });
  expect([status, body.detail]).toEqual([403, 'This operation needs the permission application:update']);
  const { bind } = await as('OWNER');
  for (const more of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'SVC-CONSOLE': '0' }]) {
    expect((await bind({ use: { max_uses: 1 } }, more)).status).toBe(403);
  }
  expect(await get()).toEqual(token);
});

test("404 for an unknown token, and for another Tenant's", async () => {
  const { token, get } = await createScene();
  const { send } = await (await createScene()).as('OWNER');
  for (const id of ['none', token.id]) {
    const answer = await send('PATCH', `/api/tokens/${id}`, { body: { use: { max_uses: 1 } }, headers });
    expect(answer.status).toBe(404);
  }
  expect(await get()).toEqual(token);
});

test('412 if somebody else has changed the token', async () => {
  const { token, as } = await createScene();
  const { bind } = await as('OWNER');
  const ifMatch = { 'If-Match': `"${token.created_at}"` };
  expect((await bind({ use: { max_uses: 2 } }, ifMatch)).status).toBe(200);
  expect((await bind({ use: { max_uses: 1 } }, ifMatch)).status).toBe(412);
});
