import type { PermissionType } from '@sluice/access';
import { call, eventually, useStack } from '@sluice/testing';
import type { TokenUse } from '@sluice/vault';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

/** Tokens with `use`, of which code asks for the value: it could send it anywhere. */
const gateway = useStack((stack) => startTestGateway(stack));

const value = 'the-secret-value';
const elsewhere = '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11';

async function bound(use: TokenUse | null, data = value): Promise<string> {
  const { tenant, db } = gateway.current;
  const id = await tenant.token({ data });
  await db
    .updateTable('tokens')
    .set({ use: JSON.stringify(use) })
    .where('id', '=', id)
    .execute();
  return id;
}

async function application() {
  const permissions: PermissionType[] = ['token:use', 'token:read', 'token:update', 'token:create'];
  const rules = [{ description: 'R', priority: 1, container: '/', transform: 'reveal' as const, permissions }];
  return gateway.current.tenant.application({ permissions: [], rules });
}

async function refusalsOf(entityId: string, count: number): Promise<unknown[]> {
  const { db } = gateway.current;
  const read = async () => {
    const rows = await db.selectFrom('audit_log').selectAll().where('entity_id', '=', entityId).orderBy('at').execute();
    return rows.flatMap(({ detail }) => (detail as { refused?: unknown[] } | null)?.refused ?? []);
  };
  await eventually('the rows', async () => (await read()).length >= count);
  return read();
}

async function usesOf(id: string): Promise<number> {
  const { db } = gateway.current;
  return (await db.selectFrom('tokens').select('uses').where('id', '=', id).executeTakeFirstOrThrow()).uses;
}

const asking = {
  detokenize: `await svc.detokenize('{{ ' + id + ' }}')`,
  retrieve: `(await svc.tokens.retrieve(id)).data`,
  update: `(await svc.tokens.update(id, { metadata: { a: 'b' } })).data`,
};

const codeOf = (asked: string) =>
  `const id = args.body.id; let seen; try { seen = ${asked} ?? null } catch (error) { seen = error.message }`;

async function askInProxy(asked: string, use: (proxyId: string) => TokenUse, kind: 'request' | 'response' = 'request') {
  const { tenant, destination, url, db } = gateway.current;
  const { id: applicationId, key } = await application();
  const token = await bound(null);
  const transform = `module.exports = async ({ svc }) => { const args = { body: { id: '${token}' } };
    ${codeOf(asked)} return { body: { seen } } }`;
  const transforms = kind === 'request' ? { requestTransform: transform } : { responseTransform: transform };
  const proxy = await tenant.proxy({ destination: destination.url, applicationId, ...transforms });
  await db
    .updateTable('tokens')
    .set({ use: JSON.stringify(use(proxy.id)) })
    .where('id', '=', token)
    .execute();
  const answer = await call(url, 'POST', '/proxy', {
    headers: { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key },
    body: {},
  });
  const seenBy = kind === 'request' ? JSON.parse(destination.seen.at(-1)?.body ?? 'null') : answer.body;
  return { proxy, token, seen: (seenBy as { seen: unknown }).seen };
}

describe.each(Object.entries(asking))('svc: %s', (what, asked) => {
  const later = '2999-01-01T00:00:00.000Z';

  test.each<[string, (proxyId: string) => TokenUse]>([
    ['proxies', (id) => ({ proxies: [id] })],
    ['until and max_uses', () => ({ until: later, max_uses: 1 })],
  ])('gets what %s allows', async (_, use) => {
    const { seen, token } = await askInProxy(asked, use);
    expect(seen).toBe(value);
    expect(await usesOf(token)).toBe(use('').max_uses ? 1 : 0);
  });

  test.each<[string, 'request' | 'response', () => TokenUse]>([
    ['proxies', 'response', () => ({ proxies: [elsewhere] })],
    ['proxies', 'request', () => ({ proxies: [elsewhere] })],
    ['destinations', 'request', () => ({ destinations: [new URL(gateway.current.destination.url).hostname] })],
    ['methods', 'request', () => ({ methods: ['POST'] })],
    ['places', 'request', () => ({ places: ['body'] })],
    ['until', 'request', () => ({ until: '2020-01-01T00:00:00.000Z' })],
  ])('gets nothing where %s refuses (in the %s transform), and that is a row', async (member, kind, use) => {
    const { seen, token, proxy } = await askInProxy(asked, use, kind);
    if (what === 'update') expect(seen).toBeNull();
    else expect(seen).toContain(`use.${member}`);
    expect(await refusalsOf(proxy.id, 1)).toEqual([{ token_id: token, member }]);
  });
});

test('after the last use, code gets nothing, and an update is made all the same', async () => {
  const { tenant, destination, url, db } = gateway.current;
  const { id: applicationId } = await application();
  const requestTransform = `module.exports = async ({ args, svc }) => { ${codeOf(asking.update)} return { body: { seen } } }`;
  const proxy = await tenant.proxy({
    destination: destination.url,
    requireAuth: false,
    applicationId,
    requestTransform,
  });
  const token = await bound({ max_uses: 1 });
  const seen = [];
  for (let i = 0; i < 2; i++) {
    const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: { id: token } });
    expect(answer.status).toBe(200);
    seen.push(JSON.parse(destination.seen.at(-1)?.body ?? '').seen);
  }
  expect(seen).toEqual([value, null]);
  expect(await refusalsOf(proxy.id, 1)).toEqual([{ token_id: token, member: 'max_uses' }]);
  const row = await db.selectFrom('tokens').select(['uses', 'metadata']).where('id', '=', token).executeTakeFirst();
  expect(row).toEqual({ uses: 1, metadata: { a: 'b' } });
});

describe('a reactor', () => {
  const echo = 'module.exports = async (req) => ({ raw: req.args })';

  test.each<[TokenUse, number]>([
    [{ until: '2999-01-01T00:00:00.000Z' }, 200],
    [{ max_uses: 1 }, 200],
    [{ proxies: [elsewhere] }, 403],
    [{ destinations: ['*.example.com'] }, 403],
    [{ methods: ['POST'] }, 403],
    [{ places: ['body'] }, 403],
    [{ until: '2020-01-01T00:00:00.000Z' }, 403],
  ])('its arguments with %j: %d', async (use, expected) => {
    const { tenant, url } = gateway.current;
    const { key } = await application();
    const reactor = await tenant.reactor({ code: echo });
    const token = await bound(use);
    const body = { args: { card: `{{ ${token} }}` } };
    const { status } = await reactAt(url, { id: reactor.id, key, body });
    expect(status).toBe(expected);
    if (expected === 403) {
      expect(await refusalsOf(reactor.id, 1)).toEqual([{ token_id: token, member: Object.keys(use)[0] }]);
      return;
    }
    expect((await reactAt(url, { id: reactor.id, key, body })).status).toBe(use.max_uses ? 403 : 200);
  });

  test('a run counts once for its arguments and its code', async () => {
    const { tenant, url } = gateway.current;
    const { id: applicationId, key } = await application();
    const code = `module.exports = async ({ args, svc }) => ({ raw: [args.card, await svc.detokenize('{{ ' + args.id + ' }}')] })`;
    const reactor = await tenant.reactor({ code, applicationId });
    const token = await bound({ max_uses: 1 });
    const body = { args: { card: `{{ ${token} }}`, id: token } };
    expect(await reactAt(url, { id: reactor.id, key, body })).toMatchObject({
      status: 200,
      body: { raw: [value, value] },
    });
    expect(await usesOf(token)).toBe(1);
  });
});

test.each<[TokenUse | undefined, string | undefined]>([
  [undefined, value],
  [{ until: '2999-01-01T00:00:00.000Z' }, value],
  [{ destinations: ['*.example.com'] }, undefined],
  [{ max_uses: 1 }, undefined],
])('what code creates with %j is answered with the value: %s', async (use, expected) => {
  const { tenant, destination, url } = gateway.current;
  const { id: applicationId } = await application();
  const requestTransform = 'module.exports = async ({ args, svc }) => ({ body: await svc.tokens.create(args.body) })';
  const parts = { destination: destination.url, requireAuth: false, applicationId, requestTransform };
  const proxy = await tenant.proxy(parts);
  const body = { data: value, ...(use && { use }) };
  const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body });
  expect(answer.status).toBe(200);
  const created = JSON.parse(destination.seen.at(-1)?.body ?? '');
  expect([created.use, created.data]).toEqual([use, expected]);
});

test('an invocation counts once, whatever its code asks for at the same time', async () => {
  const { seen, token, proxy } = await askInProxy(
    `await Promise.all([svc.tokens.retrieve(id), svc.tokens.retrieve(id), svc.detokenize('{{ ' + id + ' }}')])`,
    () => ({ max_uses: 1 }),
  );
  expect(seen).toMatchObject([{ data: value }, { data: value }, value]);
  expect(await usesOf(token)).toBe(1);
  expect(await askInProxy(asking.retrieve, () => ({ max_uses: 1 }))).toMatchObject({ seen: value }); // control
  expect(await refusalsOf(proxy.id, 0)).toEqual([]);
});

test('code may narrow what a token is for, but not free it, although its Application could', async () => {
  const free = `(await svc.tokens.update(id, { use: null })).data`;
  expect((await askInProxy(free, () => ({ methods: ['GET'] }))).seen).toMatch(/^use/);
  const narrow = `(await svc.tokens.update(id, { use: { methods: ['GET'], max_uses: 1 } })).use`;
  expect((await askInProxy(narrow, () => ({ methods: ['GET'] }))).seen).toEqual({ methods: ['GET'], max_uses: 1 });
});

test('code that would see a token masked gets nothing of it either', async () => {
  const { tenant, destination, url } = gateway.current;
  const permissions: PermissionType[] = ['token:read'];
  const rules = [{ description: 'R', priority: 1, container: '/', transform: 'mask' as const, permissions }];
  const { id: applicationId } = await tenant.application({ permissions: [], rules });
  const requestTransform = `module.exports = async ({ args, svc }) => { ${codeOf(asking.retrieve)} return { body: { seen } } }`;
  const parts = { destination: destination.url, requireAuth: false, applicationId, requestTransform };
  const proxy = await tenant.proxy(parts);
  const seen = [];
  for (const data of [value, value.repeat(5000)]) {
    const token = await bound({ methods: ['POST'] }, data);
    await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: { id: token } });
    seen.push(JSON.parse(destination.seen.at(-1)?.body ?? '').seen);
  }
  expect(seen).toEqual([expect.stringContaining('use.methods'), expect.stringContaining('use.methods')]);
});
