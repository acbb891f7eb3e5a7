import { type CallOptions, call, eventually, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_WALL_MS: '15000', TRANSFORM_CPU_MS: '12000' }));

async function invoke(parts: Omit<ProxyParts, 'destination'>, options: CallOptions = {}) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  return call(url, 'POST', '/proxy', { ...options, headers: { 'SVC-PROXY-KEY': proxy.key } });
}

async function newCard(): Promise<string> {
  return gateway.current.tenant.token({ type: 'card', data: { number: '4242424242424242' } });
}

const received = () => JSON.parse(gateway.current.destination.seen.at(-1)?.body ?? '');

/** The disclosures to an Application through Proxies, oldest first. */
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

describe('calls that are awaited together', () => {
  test('are detokenized, and each token is disclosed once', async () => {
    const application = await gateway.current.tenant.application({ permissions: ['token:use'] });
    const ids = await Promise.all(Array.from({ length: 20 }, newCard));
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
    const [one, other] = [await newCard(), await newCard()];
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
      { body: [await newCard(), unknown, await newCard()] },
    );
    expect(received()).toEqual(['4242424242424242', 400, '4242424242424242']);
  });
});

describe('an Application that ends in the middle of a transform', () => {
  const requestTransform = `module.exports = async ({ args, svc }) => {
    const first = await svc.detokenize('plain');
    while (Date.now() < args.body.until);
    try { await svc.detokenize('plain'); return { body: 'still there' } }
    catch (error) { return { body: { first, status: error.status, code: error.code, message: error.message } } } };`;
  const gone = {
    first: 'plain',
    status: 401,
    code: 'unauthenticated',
    message: 'The Application of this Proxy does not exist any more: it was deleted, or has expired',
  };

  test('by its expiry: the next call says so', async () => {
    const expiresAt = new Date(Date.now() + 1_500);
    const { id } = await gateway.current.tenant.application({ permissions: ['token:use'], expiresAt });
    await invoke({ requestTransform, applicationId: id }, { body: { until: expiresAt.getTime() + 100 } });
    expect(received()).toEqual(gone);
  });

  test('by its deletion: the next call says so', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id } = await tenant.application({ permissions: ['token:use'] });
    const until = Date.now() + 3_000;
    const invoked = invoke({ requestTransform, applicationId: id }, { body: { until } });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await db.deleteFrom('applications').where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    await invoked;
    expect(received()).toEqual(gone);
  });

  test('what is not caught fails the transform with those words', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id } = await tenant.application({ permissions: ['token:use'] });
    const code = 'module.exports = async ({ args, svc }) => { while (Date.now() < args.body); await svc.tokenize(1) }';
    const invoked = invoke({ requestTransform: code, applicationId: id }, { body: Date.now() + 3_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await db.deleteFrom('applications').where('id', '=', id).execute();
    await announce(tenant.id, [`application:${id}`]);
    const answer = await invoked;
    expect(answer.body.proxy_error).toMatchObject({ status: 500, title: 'Transform failed' });
    expect(answer.body.proxy_error.detail).toContain('it was deleted, or has expired');
  });
});

describe('the client of an Application that is gone', () => {
  const requestTransform = 'module.exports = async ({ svc }) => ({ body: { client: typeof svc } })';

  test('is not there from the moment on at which it expires, and is until then', async () => {
    const { tenant, destination, url } = gateway.current;
    const expiresAt = new Date(Date.now() + 2_000);
    const application = await tenant.application({ permissions: ['token:use'], expiresAt });
    const parts = { destination: destination.url, requireAuth: false, requestTransform, applicationId: application.id };
    const proxy = await tenant.proxy(parts);
    const seen = { before: 0, after: 0 };
    while (seen.after < 5) {
      const sentAt = Date.now();
      const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } });
      const endedAt = Date.now();
      expect(answer.status).toBe(200);
      if (sentAt >= expiresAt.getTime()) {
        expect(received()).toEqual({ client: 'undefined' });
        seen.after++;
      } else if (endedAt < expiresAt.getTime() && received().client === 'object') seen.before++;
    }
    expect(seen.before).toBeGreaterThan(0);
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
