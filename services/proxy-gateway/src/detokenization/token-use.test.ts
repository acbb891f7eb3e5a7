import { text } from 'node:stream/consumers';
import type { PermissionType } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import { eventually, serveHttp, untilLockIsAwaited, useStack } from '@sluice/testing';
import type { TokenUse } from '@sluice/vault';
import { sql } from 'kysely';
import { invokeAt } from '../testing/invoke-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** Tokens with `use`: where, how and how often an invocation may reveal them. */
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${256 * 1024}` }));

const value = 'the-secret-value';
const everywhere = ['body', 'query', 'path', 'header:x-card'];
const json = { 'content-type': 'application/json' };

async function bound(use: TokenUse | null, parts: { data?: string; containers?: string[] } = {}): Promise<string> {
  const { tenant, db } = gateway.current;
  const id = await tenant.token({ data: value, ...parts });
  await db
    .updateTable('tokens')
    .set({ use: JSON.stringify(use) })
    .where('id', '=', id)
    .execute();
  return id;
}

async function setUp({ revealAs, ...parts }: Partial<ProxyParts> & { revealAs?: string } = {}) {
  const { tenant, destination } = gateway.current;
  const permissions: PermissionType[] = ['token:use', 'token:read'];
  const rules = [{ description: 'R', priority: 1, container: '/', transform: 'reveal' as const, permissions }];
  const { id: applicationId, key } = await tenant.application({ permissions: [], rules });
  const proxy = await tenant.proxy({
    destination: destination.url,
    tokenPlaces: everywhere,
    applicationId: revealAs ?? applicationId,
    ...parts,
  });
  const invoke = async (sent: Omit<Parameters<typeof invokeAt>[1], 'proxyKey'>) => {
    const before = destination.seen.length;
    const answer = await invokeAt(gateway.current, { key, proxyKey: proxy.key, ...sent });
    return { ...answer, seen: destination.seen.slice(before) };
  };
  const send = (...tokens: string[]) =>
    invoke({ body: JSON.stringify(tokens.map((token) => `{{ ${token} }}`)), headers: json });
  return { proxy, key, applicationId, invoke, send };
}

async function usesOf(id: string): Promise<number> {
  const { db } = gateway.current;
  return (await db.selectFrom('tokens').select('uses').where('id', '=', id).executeTakeFirstOrThrow()).uses;
}

async function refusalsOf(entityId: string, count = 1) {
  const { db } = gateway.current;
  const read = async () => {
    const rows = await db.selectFrom('audit_log').selectAll().where('entity_id', '=', entityId).orderBy('at').execute();
    return rows.filter(({ detail }) => detail && 'refused' in detail);
  };
  await eventually('the rows', async () => (await read()).length >= count);
  return read();
}

const hostname = () => new URL(gateway.current.destination.url).hostname;
const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('what use allows is revealed, and what it refuses is 403 and never sent', () => {
  test.each<[string, (proxyId: string) => TokenUse, (proxyId: string) => TokenUse]>([
    ['proxies', (id) => ({ proxies: [id] }), () => ({ proxies: ['0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11'] })],
    ['destinations', () => ({ destinations: [hostname()] }), () => ({ destinations: ['elsewhere.example'] })],
    ['methods', () => ({ methods: ['POST', 'PUT'] }), () => ({ methods: ['GET'] })],
    ['places', () => ({ places: ['body', 'query'] }), () => ({ places: ['query'] })],
    ['until', () => ({ until: later() }), () => ({ until: '2020-01-01T00:00:00.000Z' })],
  ])('%s', async (member, allowing, refusing) => {
    const { proxy, send, applicationId } = await setUp();
    const allowed = await send(await bound(allowing(proxy.id)));
    expect([allowed.status, allowed.seen[0]?.body]).toEqual([200, JSON.stringify([value])]);
    const [free, token] = [await bound(null), await bound(refusing(proxy.id))];
    const refused = await send(free, token);
    expect(refused).toMatchObject({ status: 403, seen: [], detail: expect.stringContaining(`use.${member}`) });
    expect(refused.detail).toContain(token);
    expect(refused.detail).not.toContain(free);
    expect(await refusalsOf(proxy.id)).toMatchObject([
      {
        operation: 'use',
        entity_type: 'proxy',
        actor_id: applicationId,
        detail: { token_ids: [], refused: [{ token_id: token, member }] },
      },
    ]);
  });

  test('all members must hold', async () => {
    const { proxy, send } = await setUp();
    const use = {
      proxies: [proxy.id],
      destinations: [hostname()],
      methods: ['POST'],
      places: ['body'],
      until: later(),
    };
    expect((await send(await bound(use))).status).toBe(200);
    expect((await send(await bound({ ...use, methods: ['GET'] }))).status).toBe(403);
  });

  test.each<[string, (token: string) => Omit<Parameters<typeof invokeAt>[1], 'proxyKey'>]>([
    ['query', (token) => ({ path: `?q={{${token}}}` })],
    ['path', (token) => ({ path: `/{{${token}}}` })],
    ['header:x-card', (token) => ({ headers: { 'X-Card': `{{ ${token} }}` } })],
    ['body', (token) => ({ headers: json, body: `["{{ ${token} }}"]` })],
  ])('in %s, and beside it in another place', async (place, sent) => {
    const { invoke } = await setUp();
    const token = await bound({ places: [place] });
    expect((await invoke(sent(token))).status).toBe(200);
    const other = place === 'query' ? { headers: { 'X-Card': `{{ ${token} }}` } } : { path: `?q={{${token}}}` };
    expect(
      await invoke({ ...sent(token), ...other, ...(place === 'path' && { path: `/{{${token}}}?q={{${token}}}` }) }),
    ).toMatchObject({
      status: 403,
      seen: [],
    });
  });

  test('a row of the log is found by the token that was refused', async () => {
    const { proxy, send } = await setUp();
    const token = await bound({ methods: ['GET'] });
    await send(token);
    await refusalsOf(proxy.id);
    const { rows: touched } = await sql`select from audit_log_tokens where token_id = ${token}`.execute(
      gateway.current.db,
    );
    expect(touched.length).toBeGreaterThanOrEqual(2); // its creation and the refusal
  });
});

describe('headers that the Proxy sets', () => {
  const requestTransform = 'module.exports = async (req) => ({ body: { seen: req.args.body } })';
  const requestHeaders = (token: string) => ({ Authorization: `Bearer {{ ${token} }}` });

  test.each([
    ['its Application', (applicationId: string) => ({ applicationId })],
    ['the caller', () => ({})],
  ])('destinations hold there behind a request transform, revealed as %s, and not in the body', async (_, as) => {
    const { tenant, destination } = gateway.current;
    const owner = await tenant.application();
    const token = await bound({ destinations: [hostname()] });
    const { key } = await tenant.application();
    const parts = { destination: destination.url, requestTransform, tokenPlaces: ['body'], ...as(owner.id) };
    const proxy = await tenant.proxy({ ...parts, requestHeaders: requestHeaders(token) });
    const before = destination.seen.length;
    const sent = { key, proxyKey: proxy.key, headers: json };
    expect((await invokeAt(gateway.current, { ...sent, body: '[1]' })).status).toBe(200);
    expect(destination.seen.at(-1)?.headers.authorization).toBe(`Bearer ${value}`);
    const refused = await invokeAt(gateway.current, { ...sent, body: `["{{ ${token} }}"]` });
    expect([refused.status, destination.seen.length]).toEqual([403, before + 1]);
  });

  test('a refusal says nothing about the token but the member', async () => {
    const owner = await gateway.current.tenant.application();
    const token = await bound({ destinations: ['elsewhere.example'] });
    const { proxy, invoke } = await setUp({ applicationId: owner.id, requestHeaders: requestHeaders(token) });
    const answer = await invoke({});
    expect(answer).toMatchObject({ status: 403, seen: [], detail: expect.stringContaining('use.destinations') });
    expect(answer.detail).not.toContain(token);
    expect(await refusalsOf(proxy.id)).toMatchObject([
      { detail: { application_id: owner.id, refused: [{ token_id: token, member: 'destinations' }] } },
    ]);
  });

  test('when no use is left it says nothing about the token either', async () => {
    const owner = await gateway.current.tenant.application();
    const token = await bound({ max_uses: 1 });
    const { invoke } = await setUp({ applicationId: owner.id, requestHeaders: requestHeaders(token) });
    expect((await invoke({})).status).toBe(200);
    const answer = await invoke({});
    expect(answer).toMatchObject({ status: 403, seen: [], detail: expect.stringContaining('use.max_uses') });
    expect(answer.detail).not.toContain(token);
  });
});

describe('uses of the caller and of the Proxy are counted together', () => {
  test.each(['caller', 'both', 'proxy'])(
    'and where those of %s are spent, only the caller hears of its own',
    async (who) => {
      const owner = await gateway.current.tenant.application();
      const [own, hidden] = [await bound({ max_uses: 1 }), await bound({ max_uses: 1 })];
      const requestHeaders = { Authorization: `Bearer {{ ${hidden} }}` };
      const { proxy, send, applicationId } = await setUp({ revealAs: owner.id, requestHeaders });
      const spend = (id: string) =>
        gateway.current.db.updateTable('tokens').set({ uses: 1 }).where('id', '=', id).execute();
      if (who !== 'proxy') await spend(own);
      if (who !== 'caller') await spend(hidden);
      const answer = await send(own);
      expect([answer.status, answer.detail?.includes(own), answer.detail?.includes(hidden), answer.seen]).toEqual([
        403,
        who !== 'proxy',
        false,
        [],
      ]);
      const rows = (await refusalsOf(proxy.id, who === 'both' ? 2 : 1)).map(({ detail }) => detail);
      const row = (application_id: string, token_id: string) =>
        expect.objectContaining({ application_id, refused: [{ token_id, member: 'max_uses' }] });
      const expected = [
        ...(who === 'proxy' ? [] : [row(applicationId, own)]),
        ...(who === 'caller' ? [] : [row(owner.id, hidden)]),
      ];
      expect(rows).toHaveLength(expected.length);
      expect(rows).toEqual(expect.arrayContaining(expected));
      expect([await usesOf(own), await usesOf(hidden)]).toEqual([who === 'proxy' ? 0 : 1, who === 'caller' ? 0 : 1]);
    },
  );
});

describe('max_uses', () => {
  test('that many invocations reach the destination, whoever comes at once', async () => {
    const { send, proxy } = await setUp();
    const token = await bound({ max_uses: 7 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(token)));
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect([statuses.get(200)?.length, statuses.get(403)?.length]).toEqual([7, 53]);
    expect(await usesOf(token)).toBe(7);
    expect((await refusalsOf(proxy.id, 53))[0]).toMatchObject({ detail: { refused: [{ member: 'max_uses' }] } });
  });

  test('an invocation counts once, however often and wherever it names the token', async () => {
    const token = await bound({ max_uses: 1 });
    const requestTransform = `module.exports = async ({ args, svc }) => ({
      body: [args.body, await svc.detokenize('{{' + args.headers['x-id'] + '}}'), (await svc.tokens.retrieve(args.headers['x-id'])).data] })`;
    const { invoke } = await setUp({ requestTransform });
    const named = `{{ ${token} }}`;
    const sent = {
      path: `/${named.replaceAll(' ', '')}`,
      body: JSON.stringify([named, named]),
      headers: { ...json, 'X-Card': named, 'X-Id': token },
    };
    expect(await invoke(sent)).toMatchObject({
      status: 200,
      seen: [{ body: JSON.stringify([[value, value], value, value]) }],
    });
    expect(await usesOf(token)).toBe(1);
    expect((await invoke(sent)).status).toBe(403);
  });

  test('if one token has no use left, none of the request is counted; a token without a limit never is', async () => {
    const { send } = await setUp();
    const [limited, spent, free] = [
      await bound({ max_uses: 5 }),
      await bound({ max_uses: 1 }),
      await bound({ methods: ['POST'] }),
    ];
    expect((await send(spent, free)).status).toBe(200);
    const refused = await send(limited, free, spent);
    expect(refused).toMatchObject({ status: 403, seen: [], detail: expect.stringContaining(spent) });
    expect(refused.detail).not.toContain(limited);
    expect([await usesOf(limited), await usesOf(spent), await usesOf(free)]).toEqual([0, 1, 0]);
    expect((await send(limited, free)).status).toBe(200);
    expect(await usesOf(limited)).toBe(1);
  });

  test('what is refused before counts nothing', async () => {
    const { send } = await setUp();
    const token = await bound({ max_uses: 1 });
    expect((await send(token, await bound({ methods: ['GET'] }))).status).toBe(403);
    expect((await send(token, 'unknown-token')).status).toBe(400);
    expect(await usesOf(token)).toBe(0);
  });

  test('the stored limit counts, not a cached one', async () => {
    const { tenant, db, announce } = gateway.current;
    const { send } = await setUp();
    const token = await bound({ max_uses: 1 });
    expect((await send(token)).status).toBe(200);
    await db
      .updateTable('tokens')
      .set({ use: JSON.stringify({ max_uses: 2 }) })
      .where('id', '=', token)
      .execute();
    expect((await send(token)).status).toBe(200);
    await announce(tenant.id, [tagOf.token(tenant.id, token)]);
    expect((await send(token)).status).toBe(403);
  });

  test('without Postgres a limited token is 503, and one without a limit is revealed from the cache', async () => {
    const { db } = gateway.current;
    const { send } = await setUp();
    const [limited, free] = [await bound({ max_uses: 9 }), await bound({ methods: ['POST'] })];
    for (const token of [limited, free]) expect((await send(token)).status).toBe(200);
    await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in access exclusive mode`.execute(tx);
      expect((await send(free)).status).toBe(200);
      const waiting = send(limited);
      await untilLockIsAwaited(tx);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(tx);
      expect(await waiting).toMatchObject({ status: 503, seen: [] });
    });
  });
});

describe('a body that is filled while it streams', () => {
  const padding = `"${'x'.repeat(1000)}",`;

  function* around(...middle: string[]): Generator<Buffer> {
    yield Buffer.from('[');
    for (const text of middle) {
      for (let i = 0; i < 300; i++) yield Buffer.from(padding);
      yield Buffer.from(`"${text}",`);
    }
    yield Buffer.from('1]');
  }

  test('counts a use in the window that names the token first, and no more', async () => {
    const { invoke } = await setUp();
    const token = await bound({ max_uses: 1, places: ['body'] });
    const named = `{{ ${token} }}`;
    const sent = () => ({ headers: json, body: around(named, named, named) });
    const { status, detail, seen } = await invoke(sent());
    expect([status, detail, seen[0]?.body.split(value).length]).toEqual([200, undefined, 4]);
    expect(await usesOf(token)).toBe(1);
    expect((await invoke(sent())).status).toBe(403);
    expect(await usesOf(token)).toBe(1);
  });

  test('a token that stands in the head, too, is judged in both places, and counts once', async () => {
    const { invoke } = await setUp();
    const [inBoth, inHead] = [await bound({ max_uses: 1 }), await bound({ places: ['header:x-card'], max_uses: 2 })];
    const sent = (token: string) => ({
      headers: { ...json, 'X-Card': `{{ ${token} }}` },
      body: around(`{{ ${token} }}`),
    });
    expect((await invoke(sent(inBoth))).status).toBe(200);
    expect(await usesOf(inBoth)).toBe(1);
    expect(await invoke(sent(inHead))).toMatchObject({ status: 403, detail: expect.stringContaining('use.places') });
    expect((await invoke({ ...sent(inHead), body: around('nothing') })).status).toBe(200); // control
  });

  test('ends when the time of a token is over', async () => {
    const { invoke } = await setUp();
    const end = Date.now() + 2000;
    const token = await bound({ until: new Date(end).toISOString() });
    async function* body() {
      yield* around(`{{ ${token} }}`);
      await eventually('its time is over', () => Date.now() > end);
      yield* around(`{{ ${token} }}`);
    }
    const answer = await invoke({ headers: json, body: body() });
    expect(answer).toMatchObject({ status: 403, detail: expect.stringContaining('use.until') });
  });
});

describe('a destination that acts and closes the kept connection without an answer', () => {
  test.each<[TokenUse | null, number]>([
    [{ max_uses: 5 }, 1],
    [null, 2], // control: what may be repeated is
  ])('gets a PUT with %j %d times', async (use, times) => {
    await using stack = new AsyncDisposableStack();
    const seen: string[] = [];
    const destination = await serveHttp(stack, async (request, response) => {
      seen.push(await text(request));
      if (seen.length > 1) request.socket.destroy();
      else response.end('{}');
    });
    const { proxy, key } = await setUp({ destination });
    const token = await bound(use);
    const headers = { ...json, 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key };
    const put = () => fetch(`${gateway.current.url}/proxy`, { method: 'PUT', headers, body: `["{{ ${token} }}"]` });
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(502);
    expect(seen).toHaveLength(1 + times);
  });
});
