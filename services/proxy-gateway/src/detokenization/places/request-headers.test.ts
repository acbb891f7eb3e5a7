import { randomUUID } from 'node:crypto';
import type { PermissionType } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import { eventually, useStack } from '@sluice/testing';
import { invokeAt } from '../../testing/invoke-at.ts';
import { shareTestGateway } from '../../testing/test-gateway.ts';
import type { ProxyParts } from '../../testing/test-tenant.ts';

/** Headers that a Proxy sets, with values of tokens and of its configuration. */
const gateway = useStack((stack) => shareTestGateway(stack));

const permissions: PermissionType[] = ['token:use'];

function grant(container: string) {
  return [{ description: 'R', priority: 1, container, transform: 'reveal' as const, permissions }];
}

/** An agent that may use no token but those below `/agents/`, and a Proxy whose Application has a credential. */
async function setUp(requestHeaders: (token: string) => Record<string, string>, parts: Partial<ProxyParts> = {}) {
  const { tenant, destination } = gateway.current;
  const agent = await tenant.application({ permissions: [], rules: grant('/agents/') });
  const owner = await tenant.application({ permissions: [], rules: grant('/credentials/') });
  const token = await tenant.token({ data: 'sk-secret', containers: ['/credentials/a/'] });
  const proxy = await tenant.proxy({
    destination: destination.url,
    applicationId: owner.id,
    requestHeaders: requestHeaders(token),
    ...parts,
  });
  return { agent, owner, token, proxy, keys: { key: agent.key, proxyKey: proxy.key } };
}

const authorization = (token: string) => ({ Authorization: `Bearer {{ ${token} }}` });

async function invoke(
  keys: { key?: string; proxyKey: string },
  sent: Omit<Parameters<typeof invokeAt>[1], 'proxyKey'> = {},
) {
  const { destination } = gateway.current;
  const before = destination.seen.length;
  const answer = await invokeAt(gateway.current, { ...keys, ...sent });
  return { ...answer, seen: destination.seen.slice(before) };
}

const sentHeaders = ({ seen }: { seen: { headers: object }[] }) => seen.map(({ headers }) => headers);

test('a caller spends the credential of the Proxy without a right on it', async () => {
  const { keys } = await setUp(authorization);
  const answer = await invoke(keys, { headers: { authorization: 'mine', AUTHORIZATION: 'mine too' } });
  expect(answer.status).toBe(200);
  expect(answer.seen[0]?.rawHeaders.filter((_, i, all) => all[i - 1]?.toLowerCase() === 'authorization')).toEqual([
    'Bearer sk-secret',
  ]);
});

test('the caller cannot spend it elsewhere: in other places, and through every other Proxy', async () => {
  const { tenant, destination } = gateway.current;
  const { agent, token, proxy } = await setUp(authorization);
  const everywhere = ['body', 'query', 'path', 'header:x-mine'];
  const others = [
    proxy,
    await tenant.proxy({ destination: destination.url }),
    await tenant.proxy({ destination: destination.url, tokenPlaces: everywhere }),
    (await setUp(authorization, { tokenPlaces: everywhere })).proxy,
    await tenant.proxy({ destination: destination.url, requestHeaders: authorization(token) }),
  ];
  const attempts = [
    { body: JSON.stringify(`{{ ${token} }}`), headers: { 'content-type': 'application/json' } },
    { path: `?q={{${token}}}` },
    { path: `/{{${token}}}` },
    { headers: { 'x-mine': `{{ ${token} }}` } },
  ];
  for (const { key: proxyKey } of others) {
    for (const attempt of attempts) {
      const { status, seen } = await invoke({ key: agent.key, proxyKey }, attempt);
      const mine = seen.map(({ url, body, headers }) => [url, body, headers['x-mine']]);
      expect(JSON.stringify(mine)).not.toContain('sk-secret');
      expect([200, 403]).toContain(status);
    }
  }
});

test('errors for tokens of the Proxy name none of them', async () => {
  const token = randomUUID();
  const unknown = await setUp(() => authorization(token));
  const { status, detail } = await invoke(unknown.keys);
  expect({ status, detail }).toEqual({
    status: 400,
    detail: 'The request_headers of this Proxy contain the id of a token that does not exist',
  });
  const { tenant } = gateway.current;
  const foreign = await tenant.token({ data: 'x', containers: ['/pii/'] });
  const refused = await setUp(() => authorization(foreign));
  expect(await invoke(refused.keys)).toMatchObject({
    status: 403,
    detail: expect.not.stringContaining(foreign),
    seen: [],
  });
});

test('without an Application the rights of the caller count', async () => {
  const { tenant, destination } = gateway.current;
  const { agent, owner, token } = await setUp(authorization);
  const proxy = await tenant.proxy({ destination: destination.url, requestHeaders: authorization(token) });
  expect(await invoke({ key: agent.key, proxyKey: proxy.key })).toMatchObject({ status: 403, seen: [] });
  const answer = await invoke({ key: owner.key, proxyKey: proxy.key });
  expect(sentHeaders(answer)).toMatchObject([{ authorization: 'Bearer sk-secret' }]);
});

test('a token needs a key, the configuration alone needs none', async () => {
  const parts = { requireAuth: false, configuration: { 'API.KEY': 'k', empty: '' } };
  const { proxy } = await setUp((token) => ({ ...authorization(token), X: '{{ config: API.KEY }}' }), parts);
  expect(await invoke({ proxyKey: proxy.key })).toMatchObject({ status: 401, seen: [] });
  const ofConfiguration = await setUp(
    () => ({
      Authorization: "Basic {{ config: API.KEY | prepend: 'x-access-token:' | base64_encode }}",
      'X-Both': '{{ config: API.KEY }}-{{config:API.KEY}}{{ config: empty }}',
    }),
    parts,
  );
  const answer = await invoke({ proxyKey: ofConfiguration.proxy.key });
  expect(sentHeaders(answer)).toMatchObject([{ authorization: `Basic ${btoa('x-access-token:k')}`, 'x-both': 'k-k' }]);
});

test('Basic credentials are built of a token', async () => {
  const { keys } = await setUp((token) => ({
    Authorization: `Basic {{ ${token} | prepend: 'x-access-token:' | base64_encode }}`,
  }));
  expect(sentHeaders(await invoke(keys))).toMatchObject([
    { authorization: `Basic ${btoa('x-access-token:sk-secret')}` },
  ]);
});

test('a value that a header cannot hold is 400, and empty behind a filter', async () => {
  const { tenant } = gateway.current;
  const token = await tenant.token({ data: 'a\r\nX-More: b', containers: ['/credentials/'] });
  const { keys } = await setUp(() => authorization(token));
  expect(await invoke(keys)).toMatchObject({ status: 400, seen: [], detail: expect.not.stringContaining(token) });
  const configuration = { SECRET_NAME: 'a\nb' };
  const configured = await setUp(() => ({ 'X-A': '{{ config: SECRET_NAME }}' }), { configuration });
  expect(await invoke(configured.keys)).toMatchObject({
    status: 400,
    detail:
      'A value cannot be in the header X-A of the Proxy: it has characters other than printable ASCII, or a blank at its beginning or end',
  });
  const filtered = await setUp(() => ({ 'X-A': `a{{ ${token} | append: '' }}b` }));
  expect(sentHeaders(await invoke(filtered.keys))).toMatchObject([{ 'x-a': 'ab' }]);
});

describe('code', () => {
  test('never has the values, and cannot replace or remove what the Proxy sets', async () => {
    const requestTransform = `module.exports = async ({ args }) => ({
      body: { saw: args },
      headers: { ...args.headers, authorization: 'of the code', 'x-code': 'c' },
    })`;
    const { keys } = await setUp(authorization, { requestTransform });
    const body = JSON.stringify({ a: 1 });
    const { status, seen } = await invoke(keys, { body, headers: { 'content-type': 'application/json' } });
    expect(status).toBe(200);
    expect(seen[0]?.body).not.toContain('sk-secret');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-secret', 'x-code': 'c' });
  });

  test('a caller cannot have them removed by Connection', async () => {
    const { keys } = await setUp(authorization);
    const answer = await invoke(keys, { headers: { Connection: 'close, Authorization' } });
    expect(sentHeaders(answer)).toMatchObject([{ authorization: 'Bearer sk-secret' }]);
    expect(await invoke(keys, { headers: { 'SVC-PROXY-CONNECTION': 'authorization' } })).toMatchObject({
      status: 400,
      seen: [],
    });
  });

  test('headers of a transform that are too many with them are 500', async () => {
    const many = `Object.fromEntries(Array.from({ length: 100 }, (_, i) => ['x-' + i, 'v']))`;
    const requestTransform = `module.exports = async () => ({ headers: ${many} })`;
    const { keys } = await setUp(authorization, { requestTransform });
    expect(await invoke(keys, { body: '{}' })).toMatchObject({
      status: 500,
      detail: expect.stringContaining('more than 100 lines'),
      seen: [],
    });
  });
});

describe('the log', () => {
  /** Once they are written, which takes a moment. */
  const rowsOf = async (token: string) => {
    await eventually('the row', async () => (await writtenOf(token)).length > 0);
    return writtenOf(token);
  };
  const writtenOf = async (token: string) => {
    const { db, tenant } = gateway.current;
    const rows = await db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenant.id).execute();
    return rows.filter(({ detail }) => JSON.stringify(detail).includes(token));
  };

  test('has a row for the caller and one for the Application', async () => {
    const { tenant } = gateway.current;
    const { agent, owner, token, keys } = await setUp(authorization, { tokenPlaces: ['query', 'body'] });
    const mine = await tenant.token({ data: 'a', containers: ['/agents/'] });
    await invoke(keys, {
      path: `?q={{${mine}}}`,
      body: `"{{ ${mine} }}"`,
      headers: { 'content-type': 'application/json' },
    });
    expect(await rowsOf(mine)).toMatchObject([
      { actor_id: agent.id, detail: { token_ids: [mine], application_id: agent.id, places: ['query', 'body'] } },
    ]);
    expect(await rowsOf(token)).toMatchObject([
      {
        actor_id: agent.id,
        detail: { token_ids: [token], application_id: owner.id, places: ['header:authorization'] },
      },
    ]);
  });

  test('has one row where the caller reveals all', async () => {
    const { tenant, destination } = gateway.current;
    const caller = await tenant.application();
    const token = await tenant.token({ data: 'a' });
    const proxy = await tenant.proxy({
      destination: destination.url,
      tokenPlaces: ['query'],
      requestHeaders: { 'X-A': `{{ ${token} }}` },
    });
    await invoke({ key: caller.key, proxyKey: proxy.key }, { path: `?q={{${token}}}` });
    expect(await rowsOf(token)).toMatchObject([{ detail: { token_ids: [token], places: ['header:x-a', 'query'] } }]);
  });
});

describe('a Proxy whose Application is gone', () => {
  const gone = { status: 403, detail: expect.stringContaining('was deleted or has expired'), seen: [] };

  test.each([
    ['was deleted', (id: string) => gateway.current.db.deleteFrom('applications').where('id', '=', id).execute()],
    [
      'has expired, before the sweep',
      (id: string) =>
        gateway.current.db
          .updateTable('applications')
          .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
          .where('id', '=', id)
          .execute(),
    ],
  ])('because it %s reveals nothing, also to a caller who may use the token', async (_, end) => {
    const { tenant, announce } = gateway.current;
    const { owner, token, proxy, keys } = await setUp(authorization);
    const permitted = await tenant.application({ permissions: [], rules: grant('/credentials/') });
    expect(await invoke(keys)).toMatchObject({ status: 200 });
    await end(owner.id);
    await announce(tenant.id, [tagOf.application(owner.id), tagOf.proxy(proxy.id)]);
    expect(await invoke(keys)).toMatchObject(gone);
    expect(await invoke({ ...keys, key: permitted.key })).toMatchObject(gone);
    expect(token).not.toBe('');
  });

  test('sends what its configuration says', async () => {
    const { tenant, db, announce } = gateway.current;
    const { owner, proxy, keys } = await setUp(() => ({ 'X-A': '{{ config: a }}' }), { configuration: { a: 'b' } });
    await db.deleteFrom('applications').where('id', '=', owner.id).execute();
    await announce(tenant.id, [tagOf.application(owner.id), tagOf.proxy(proxy.id)]);
    expect(sentHeaders(await invoke(keys))).toMatchObject([{ 'x-a': 'b' }]);
  });
});
