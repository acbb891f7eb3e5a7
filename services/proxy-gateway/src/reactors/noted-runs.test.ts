import { FeedStore } from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { eventually, testRedisUrl, useStack } from '@sluice/testing';
import { rawPost, sendRaw } from '@sluice/testing/raw';
import { reactAt } from '../testing/react-at.ts';
import { callsOut, echo, openRunScene, readsThenCalls } from '../testing/run-scene.ts';

const gateway = useStack(async (stack) => {
  const log = serviceLogger({ service: 'test', level: 'silent' });
  return { ...(await openRunScene(stack)), feed: new FeedStore(testRedisUrl(), { log, stack }) };
});

const records = async (tenantId = gateway.current.tenant.id) =>
  (await gateway.current.feed.read(tenantId, new Date())).invocations.map(({ record }) => record);

async function noted(traceId: string) {
  const find = async () => (await records()).filter((record) => record.trace_id === traceId);
  await eventually('the run is noted', async () => (await find()).length > 0);
  return find();
}

interface Asked {
  code?: string;
  permissions?: string[];
  body?: unknown;
  key?: string;
  reactorId?: string;
  traceId?: string;
}

async function react({ code = echo, permissions = ['token:use', 'token:create'], ...asked }: Asked) {
  const { tenant, url, caller } = gateway.current;
  const { id: applicationId, key } = await caller(permissions);
  const { id } = await tenant.reactor({ code });
  const { reactorId = id, body = {}, traceId = crypto.randomUUID() } = asked;
  const headers = { 'SVC-TRACE-ID': traceId };
  const { status } = await reactAt(url, { id: reactorId, key: asked.key ?? key, body, headers });
  return { id, applicationId, status, traceId };
}

describe('a call of react', () => {
  test('is noted with its status, stages, tokens and console, and without arguments and results', async () => {
    const { tenant } = gateway.current;
    const token = await tenant.token({ data: '4242424242424242' });
    const code = `module.exports = async ({ args }) => { console.log('card', args.card); return { raw: args.card } }`;
    const { id, applicationId, traceId } = await react({
      code,
      body: { args: { card: `{{ ${token} }}`, a: 'private' } },
    });
    const found = await noted(traceId);
    expect(found).toEqual([
      {
        trace_id: traceId,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        reactor_id: id,
        application_id: applicationId,
        method: 'POST',
        status: 200,
        stages_ms: {
          authenticate: expect.any(Number),
          detokenize: expect.any(Number),
          code: expect.any(Number),
          total: expect.any(Number),
        },
        token_ids: [token],
        console: [{ level: 'info', text: 'card [redacted]' }],
      },
    ]);
    expect(JSON.stringify(found)).not.toMatch(/4242|private/);
  });

  test.each<[string, Asked, object]>([
    ['has no right to it', { permissions: ['token:read'] }, { status: 403, refused_by: 'forbidden' }],
    ['sends no JSON', { body: '{' }, { status: 400, refused_by: 'validation_failed' }],
    ['names an unknown token', { body: { args: '{{ nowhere }}' } }, { status: 400, refused_by: 'bad_request' }],
    ['meets code that throws', { code: 'throw new Error("x")' }, { status: 500, refused_by: 'reactor_failed' }],
  ])('whose caller %s is noted', async (_, asked, expected) => {
    const { id, applicationId, traceId } = await react(asked);
    expect(await noted(traceId)).toMatchObject([{ reactor_id: id, application_id: applicationId, ...expected }]);
  });

  test('whose session is limited to other reactors is noted by the Application of the session', async () => {
    const { tenant, caller } = gateway.current;
    const application = await caller();
    const other = await tenant.reactor({ code: echo });
    const { key } = await tenant.session(application.id, { reactors: [other.id] });
    const { id, traceId } = await react({ key });
    expect(await noted(traceId)).toMatchObject([{ reactor_id: id, application_id: application.id, status: 403 }]);
  });

  // Express ignores a fragment, and reads a backslash before it as a slash.
  test.each(['/react#', '/react?a#/results', '\\react#x', '/react/', '/react-async#x'])(
    'whose path ends with %s is answered and noted like any other',
    async (end) => {
      const { tenant, url, caller } = gateway.current;
      const { key } = await caller();
      const { id } = await tenant.reactor({ code: echo });
      const traceId = crypto.randomUUID();
      const headers = { 'SVC-API-KEY': key, 'SVC-TRACE-ID': traceId, 'Content-Type': 'application/json' };
      const { status } = await sendRaw(url, rawPost(`/reactors/${id}${end}`, headers, '{}'), 10_000);
      expect(status).toBe(end.includes('async') ? 202 : 200);
      expect(await noted(traceId)).toMatchObject([{ reactor_id: id, status: 200 }]);
    },
  );

  test('that writes the id in capitals is noted by the id as it is', async () => {
    const { tenant } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    for (const permissions of [['token:use'], ['token:read']]) {
      const { traceId } = await react({ reactorId: id.toUpperCase(), permissions });
      expect(await noted(traceId)).toMatchObject([{ reactor_id: id }]);
    }
  });

  test('whose code takes too long is noted', async () => {
    const { traceId, status } = await react({ code: 'module.exports = async () => { for (;;); }' });
    expect(await noted(traceId)).toMatchObject([{ status, refused_by: 'reactor_failed' }]);
  });

  test('whose caller leaves is noted once', async () => {
    const { tenant, url, caller, destination, untilCalled } = gateway.current;
    using _ = gateway.current.holdDestination();
    const { key } = await caller();
    const { id } = await tenant.reactor({ code: callsOut });
    const [leaving, traceId] = [new AbortController(), crypto.randomUUID()];
    const reacting = fetch(`${url}/reactors/${id}/react`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': key, 'SVC-TRACE-ID': traceId, 'Content-Type': 'application/json' },
      body: JSON.stringify({ args: { url: `${destination.url}/left` } }),
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    await untilCalled('/left');
    leaving.abort();
    expect(await reacting).toBe('AbortError');
    expect(await noted(traceId)).toMatchObject([{ reactor_id: id, refused_by: 'caller_gone' }]);
    await noted((await react({})).traceId);
    expect(await noted(traceId)).toHaveLength(1);
  });

  test('of nobody, of an unknown reactor and of another Tenant is not', async () => {
    const { stranger, tenant } = gateway.current;
    const before = await tenant.reactor({ code: echo });
    const foreign = await stranger.application({ permissions: ['token:read'] });
    const asked: Asked[] = [
      { key: 'unknown' },
      { reactorId: crypto.randomUUID() },
      { reactorId: 'no-id', permissions: [] },
      { reactorId: crypto.randomUUID(), permissions: [] },
      { reactorId: before.id, key: foreign.key },
    ];
    const traces: string[] = [];
    for (const each of asked) {
      const { status, traceId } = await react(each);
      expect(status).toBeGreaterThanOrEqual(400);
      traces.push(traceId);
    }
    await noted((await react({})).traceId);
    expect((await records()).filter(({ trace_id }) => traces.includes(trace_id))).toEqual([]);
    expect(await records(stranger.id)).toEqual([]);
  });
});

describe('a run of react-async', () => {
  async function run(code: string, args: unknown = {}) {
    const { tenant, caller, ask, end } = gateway.current;
    const [{ id: applicationId, key }, { id }] = [await caller(), await tenant.reactor({ code })];
    const traceId = crypto.randomUUID();
    const { body } = await ask(id, key, { body: { args }, headers: { 'SVC-TRACE-ID': traceId } });
    const result = await end(id, String(body.async_reactor_request_id), key);
    return { id, applicationId, traceId, result };
  }

  test('is noted once, at its end, with the status of its result', async () => {
    const { tenant } = gateway.current;
    const token = await tenant.token({ data: 'x' });
    const code = `module.exports = async () => { console.log('one line'); return {} }`;
    const { id, applicationId, traceId } = await run(code, `{{ ${token} }}`);
    expect(await noted(traceId)).toMatchObject([
      {
        ...{ reactor_id: id, application_id: applicationId, method: 'POST', status: 200, token_ids: [token] },
        stages_ms: { code: expect.any(Number) },
        console: [{ level: 'info', text: 'one line' }],
      },
    ]);
    await noted((await react({})).traceId);
    expect(await noted(traceId)).toHaveLength(1);
  });

  test('that failed is noted with the status of its error', async () => {
    const thrown = await run('module.exports = async () => { throw new Error() }');
    expect(await noted(thrown.traceId)).toMatchObject([{ status: 500, refused_by: 'reactor_failed' }]);
    const unknown = await run(echo, '{{ nowhere }}');
    expect(await noted(unknown.traceId)).toMatchObject([{ status: 400, refused_by: 'bad_request' }]);
  });

  test('that was refused is noted, because it never runs', async () => {
    const { tenant, caller, ask } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    const { key } = await caller(['token:read']);
    const traceId = crypto.randomUUID();
    expect((await ask(id, key, { headers: { 'SVC-TRACE-ID': traceId } })).status).toBe(403);
    expect(await noted(traceId)).toMatchObject([{ reactor_id: id, status: 403, refused_by: 'forbidden' }]);
  });

  test('that was cancelled is noted once', async () => {
    const { tenant, caller, ask, cancel, untilState, holdTokens } = gateway.current;
    const { key, id: applicationId } = await caller(['token:use', 'token:create', 'token:read']);
    const token = await tenant.token({ data: 'x' });
    const { id } = await tenant.reactor({ code: readsThenCalls, applicationId });
    const release = await holdTokens();
    const traceId = crypto.randomUUID();
    const { body } = await ask(id, key, { body: { args: { token } }, headers: { 'SVC-TRACE-ID': traceId } });
    const runId = String(body.async_reactor_request_id);
    await untilState(runId, 'running');
    expect((await cancel(id, runId, key)).status).toBe(204);
    await release();
    await noted((await react({})).traceId);
    expect(await noted(traceId)).toMatchObject([{ reactor_id: id, status: 404, refused_by: 'cancelled' }]);
    expect(await noted(traceId)).toHaveLength(1);
  });
});
