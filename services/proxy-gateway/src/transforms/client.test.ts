import type { Database } from '@sluice/database';
import { type CallOptions, call, eventually, serveHttp, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) =>
  startTestGateway(stack, { TRANSFORM_CPU_MS: '12000', TRANSFORM_HOST_CALLS: '100000' }),
);

async function invoke(parts: Omit<ProxyParts, 'destination'>, options: CallOptions = {}) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  return call(url, 'POST', '/proxy', { ...options, headers: { 'SVC-PROXY-KEY': proxy.key } });
}

async function createCard(): Promise<string> {
  return gateway.current.tenant.token({ type: 'card', data: { number: '4242424242424242' } });
}

const received = () => JSON.parse(gateway.current.destination.seen.at(-1)?.body ?? '');

async function disclosuresOf(applicationId: string): Promise<string[][]> {
  const rows = await gateway.current.db
    .selectFrom('audit_log')
    .select('detail')
    .where('actor_id', '=', applicationId)
    .where('operation', '=', 'use')
    .where('entity_type', '=', 'proxy')
    .execute();
  return rows.map(({ detail }) => (detail as { token_ids: string[] }).token_ids);
}

test.each([
  ['public', false],
  ['private', true],
] as const)('svc of a %s Application finds an equal token by asking: %s', async (type, expected) => {
  const application = await gateway.current.tenant.application({ type, permissions: ['token:create'] });
  const requestTransform = `module.exports = async ({ args: { body }, svc }) => {
    const made = [await svc.tokens.create(body), await svc.tokens.create(body), (await svc.tokenize([body]))[0]];
    return { body: made.map(({ id }) => id) };
  }`;
  const body = { type: 'token', data: `of ${type}`, deduplicate_token: true };
  const { status } = await invoke({ requestTransform, applicationId: application.id }, { body });
  expect(status).toBe(200);
  expect(new Set(received()).size).toBe(expected ? 1 : 3);
});

describe('calls that are awaited together', () => {
  test('are detokenized, and each token is disclosed once', async () => {
    const application = await gateway.current.tenant.application({ permissions: ['token:use'] });
    const ids = await Promise.all(Array.from({ length: 20 }, createCard));
    const requestTransform = `module.exports = async ({ args, svc }) => ({
      body: await Promise.all(args.body.map((id) => svc.detokenize({ n: '{{' + id + ' | json: "$.number" }}' }))) });`;
    const answer = await invoke({ requestTransform, applicationId: application.id }, { body: ids });
    expect(answer.status).toBe(200);
    expect(received()).toEqual(Array(20).fill({ n: '4242424242424242' }));
    await eventually('the notes', async () => (await disclosuresOf(application.id)).flat().length >= 20);
    const notes = await disclosuresOf(application.id);
    expect(notes.flat().sort()).toEqual([...ids].sort());
  });

  test('are disclosures through the Proxy, as those of its expressions are; so is what is retrieved, and no read beside', async () => {
    const { tenant, destination, db } = gateway.current;
    const application = await tenant.application({ permissions: ['token:use', 'token:read'] });
    const [one, other] = [await createCard(), await createCard()];
    const requestTransform = `module.exports = async ({ args, svc }) => ({
      body: [await svc.detokenize('{{' + args.body[0] + '}}'), (await svc.tokens.retrieve(args.body[1])).data] });`;
    const answer = await invoke({ requestTransform, applicationId: application.id }, { body: [one, other] });
    expect([answer.status, received()[0]]).toEqual([200, { number: '4242424242424242' }]);
    const rowsOf = () => db.selectFrom('audit_log').selectAll().where('actor_id', '=', application.id).execute();
    await eventually('both rows', async () => (await rowsOf()).length === 2);
    const where = { destination_host: new URL(destination.url).host, application_id: application.id, method: 'POST' };
    const rows = await rowsOf();
    expect(rows).toMatchObject(
      Array(2).fill({ entity_type: 'proxy', operation: 'use', detail: { ...where, places: ['transform'] } }),
    );
    expect(rows.flatMap(({ detail }) => (detail as { token_ids: string[] }).token_ids).sort()).toEqual(
      [one, other].sort(),
    );
  });

  test.each([10, 20_000, 100_000])('show a token of %d characters that the Application sees masked', async (length) => {
    const { tenant } = gateway.current;
    const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] } as const;
    const application = await tenant.application({ permissions: [], rules: [rule] });
    const token = await tenant.token({ data: 'x'.repeat(length), mask: '{{ data | last4 }}' });
    const requestTransform = `module.exports = async ({ args, svc }) => ({
      body: { data: (await svc.tokens.retrieve(args.body[0])).data } });`;
    const { status } = await invoke({ requestTransform, applicationId: application.id }, { body: [token] });
    expect([status, received()]).toEqual([200, { data: 'xxxx' }]);
  });

  test('fail one by one', async () => {
    const application = await gateway.current.tenant.application({ permissions: ['token:use'] });
    const requestTransform = `module.exports = async ({ args, svc }) => {
      const settled = await Promise.allSettled(args.body.map((id) => svc.detokenize('{{' + id + ' | json: "$.number" }}')));
      return { body: settled.map((one) => one.value ?? one.reason.status) } };`;
    const unknown = '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73';
    await invoke(
      { requestTransform, applicationId: application.id },
      { body: [await createCard(), unknown, await createCard()] },
    );
    expect(received()).toEqual(['4242424242424242', 400, '4242424242424242']);
  });
});

describe('a misspelt member of a token', () => {
  const code = `module.exports = async ({ args, svc }) => {
    const outcome = (call) => call.then(({ id }) => id ?? 'made', ({ status, message }) => [status, message]);
    return { body: [
      await outcome(svc.tokens.create({ data: 1, [args.body.name]: ['/general/'] })),
      await outcome(svc.tokens.update(args.body.id, { [args.body.name]: ['/general/'] })),
      await outcome(svc.tokenize({ type: 'token', data: 1, [args.body.name]: ['/general/'] })),
    ] }; }`;

  test.each([
    ['contianers', expect.arrayContaining([400, expect.stringMatching(/contianers.*did you mean containers\?/)])],
    ['containers', expect.any(String)],
  ])('%s is refused by create, update and tokenize, or taken', async (name, expected) => {
    const { tenant, db } = gateway.current;
    const { id: applicationId } = await tenant.application({
      permissions: ['token:create', 'token:update', 'token:use'],
    });
    const answer = await invoke({ requestTransform: code, applicationId }, { body: { name, id: await createCard() } });
    expect([answer.status, received()]).toEqual([200, [expected, expected, expected]]);
    const made = db.selectFrom('tokens').select('id').where('created_by', '=', applicationId).execute();
    expect(await made).toHaveLength(name === 'containers' ? 2 : 0);
  });
});

describe('an Application that ends in the middle of a transform', () => {
  const untilRefused = "await svc.tokenize({ type: 'token', data: 'begun' }); for (;;) await svc.detokenize('plain');";
  const requestTransform = `module.exports = async ({ svc }) => {
    try { ${untilRefused} }
    catch (error) { return { body: { status: error.status, code: error.code, message: error.message } } } };`;
  const gone = {
    status: 401,
    code: 'unauthenticated',
    message: 'The Application of this Proxy can no longer be used: it was changed or deleted, or it has expired',
  };

  async function invokeAndAwaitCalls(code: string) {
    const { db, tenant } = gateway.current;
    const { id } = await tenant.application({ permissions: ['token:use', 'token:create'] });
    const rowsOf = () => db.selectFrom('audit_log').select('id').where('actor_id', '=', id).execute();
    const invoked = invoke({ requestTransform: code, applicationId: id });
    await eventually('the first call', async () => (await rowsOf()).length > 0);
    return { id, invoked };
  }

  test('by its expiry: the next call says so', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id, invoked } = await invokeAndAwaitCalls(requestTransform);
    const expires_at = new Date(Date.now() + 500).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    await invoked;
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect(received()).toEqual(gone);
  });

  test('by its deletion: the next call says so', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id, invoked } = await invokeAndAwaitCalls(requestTransform);
    await db.deleteFrom('applications').where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    await invoked;
    expect(received()).toEqual(gone);
  });

  test('what is not caught fails the transform with those words', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id, invoked } = await invokeAndAwaitCalls(`module.exports = async ({ svc }) => { ${untilRefused} }`);
    await db.deleteFrom('applications').where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    const answer = await invoked;
    expect(answer.body.proxy_error).toMatchObject({ status: 500, title: 'Transform failed' });
    expect(answer.body.proxy_error.detail).toContain('or it has expired');
  });
});

describe('a Proxy that changes in the middle of a transform', () => {
  const untilRefused =
    "await svc.tokenize({ type: 'token', data: 'begun' }); try { for (;;) await svc.detokenize('plain'); } catch {}";

  test.each<[what: string, status: number, change: (db: Database, id: string) => Promise<unknown>]>([
    ['is gone', 404, (db, id) => db.deleteFrom('proxies').where('id', '=', id).execute()],
    [
      'has no Application',
      503,
      (db, id) => db.updateTable('proxies').set({ application_id: null }).where('id', '=', id).execute(),
    ],
  ])('and %s: the client works no longer, and the destination gets nothing', async (_, status, change) => {
    const { db, announce, tenant, destination, url } = gateway.current;
    const { id: applicationId } = await tenant.application({ permissions: ['token:use', 'token:create'] });
    const requestTransform = `module.exports = async ({ svc }) => { ${untilRefused} return { body: {} } }`;
    const parts = { destination: destination.url, requireAuth: false, requestTransform, applicationId };
    const proxy = await tenant.proxy(parts);
    const seenBefore = destination.seen.length;
    const rowsOf = () => db.selectFrom('audit_log').select('id').where('actor_id', '=', applicationId).execute();
    const invoked = call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } });
    await eventually('the first call', async () => (await rowsOf()).length > 0);
    await change(db, proxy.id);
    await announce(tenant.id, [`proxy:${proxy.id}`]);
    expect((await invoked).status).toBe(status);
    expect(destination.seen.length).toBe(seenBefore);
  });

  test('a transform of the answer finds no client if the Proxy has lost its Application meanwhile', async () => {
    const { db, announce, tenant, url } = gateway.current;
    await using stack = new AsyncDisposableStack();
    const { promise: changed, resolve: change } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const destination = await serveHttp(stack, async (request, response) => {
      request.resume();
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
      ask();
      await changed;
      response.end(']');
    });
    const { id: applicationId } = await tenant.application({ permissions: ['token:use'] });
    const responseTransform = 'module.exports = async ({ svc }) => ({ body: { client: typeof svc } })';
    const proxy = await tenant.proxy({ destination, requireAuth: false, responseTransform, applicationId });
    const invoked = call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } });
    await asked;
    await db.updateTable('proxies').set({ application_id: null }).where('id', '=', proxy.id).execute();
    await announce(tenant.id, [`proxy:${proxy.id}`]);
    change();
    expect((await invoked).body).toEqual({ client: 'undefined' });
  });
});

describe('the client of an Application that is gone', () => {
  const requestTransform = 'module.exports = async ({ svc }) => ({ body: { client: typeof svc } })';

  slow('0.4 s')('is not there from the moment on at which it expires, and is until then', async () => {
    const { db, announce, tenant, destination, url } = gateway.current;
    const { id } = await tenant.application({ permissions: ['token:use'], expiresAt: new Date(Date.now() + 600_000) });
    const parts = { destination: destination.url, requireAuth: false, requestTransform, applicationId: id };
    const proxy = await tenant.proxy(parts);
    const client = async () => {
      const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } });
      expect(answer.status).toBe(200);
      return received().client;
    };
    expect(await client()).toBe('object');
    const expiresAt = Date.now() + 1_000;
    const expires_at = new Date(expiresAt).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    for (let after = 0; after < 5; ) {
      const sentAt = Date.now();
      const seen = await client();
      if (Date.now() < expiresAt) expect(seen).toBe('object');
      if (sentAt < expiresAt) continue;
      expect(seen).toBe('undefined');
      after++;
    }
  });

  test('is not there once it was deleted', async () => {
    const { db, announce, tenant, destination, url } = gateway.current;
    const { id } = await tenant.application({ permissions: ['token:use'] });
    const proxy = await tenant.proxy({
      destination: destination.url,
      requireAuth: false,
      requestTransform,
      applicationId: id,
    });
    const client = async () => {
      await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } });
      return received().client;
    };
    expect(await client()).toBe('object');
    await db.deleteFrom('applications').where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    expect(await client()).toBe('undefined');
  });
});
