import { randomUUID } from 'node:crypto';
import { FeedStore, type InvocationRecord, mostKept, toLine } from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { eventually, openRedisDoor, sendRequest, slow, testRedisUrl, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const management = await startTestManagement(stack, { REDIS_URL: door.url, TENANT_MAX_STREAMS: '2' });
  const log = serviceLogger({ service: 'test', level: 'silent' });
  return { ...management, door, store: new FeedStore(testRedisUrl(), { log, stack }) };
});

const proxyId = randomUUID();
const reactorId = randomUUID();

function recordOf(trace: string, part: Partial<InvocationRecord> = {}): InvocationRecord {
  const at = new Date().toISOString();
  const base = { trace_id: trace, at, proxy_id: proxyId, method: 'POST', status: 200, destination_status: 200 };
  return { ...base, stages_ms: { authenticate: 0.1, total: 3.2 }, token_ids: ['tok_1'], ...part };
}

function runOf(trace: string, part: Partial<InvocationRecord> = {}): InvocationRecord {
  const { proxy_id, destination_status, ...record } = recordOf(trace);
  return { ...record, reactor_id: reactorId, ...part };
}

const lineOf = (record: InvocationRecord) =>
  toLine({
    traceId: record.trace_id,
    beganAt: Date.parse(record.at),
    ownerId: record.reactor_id ?? record.proxy_id ?? '',
    isRun: record.reactor_id !== undefined,
    applicationId: record.application_id,
    method: record.method,
    status: record.status,
    destinationStatus: record.destination_status,
    refusedBy: record.refused_by,
    stages: { authenticate: 0.1, detokenize: 0, transform: 0, destination: 0 },
    totalMs: 3.2,
    tokenIds: record.token_ids,
    printed: record.console,
    guardHits: record.guard_hits,
    guardTokenIds: record.guard_token_ids,
  });

/** A Tenant with these invocations. */
async function tenantWith(records: InvocationRecord[], skipped = 0) {
  const { anotherTenant, store, send, application } = api.current;
  const { tenant_id: tenantId, management_key: key } = await anotherTenant('T');
  const add = (more: InvocationRecord[], before = 0) =>
    store.add(tenantId, { lines: more.map(lineOf), skipped: before, minutes: new Map() });
  await add(records, skipped);
  const get = (query = '', own = key) => send('GET', `/invocations${query}`, { key: own });
  const reader = (...permissions: string[]) => application({ type: 'management', permissions }, { key });
  return { tenantId, key, add, get, reader };
}

const traces = (body: { data: { trace_id: string }[] }) => body.data.map(({ trace_id }) => trace_id);

describe('the list', () => {
  test('has the newest first, whole, and how many were left out', async () => {
    const { get, add } = await tenantWith([recordOf('a')]);
    await add([recordOf('b', { refused_by: 'forbidden', status: 403 })], 4);
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toEqual({
      pagination: { page_size: 20 },
      data: [
        recordOf('b', { refused_by: 'forbidden', status: 403, at: body.data[0].at }),
        { ...recordOf('a'), at: body.data[1].at },
      ],
      skipped: 4,
    });
  });

  test('has what a response guard found', async () => {
    const found = { guard_hits: 2, guard_token_ids: ['tok_1'] };
    const { get } = await tenantWith([recordOf('a', found), recordOf('b')]);
    const { data } = (await get()).body;
    expect(data[1]).toMatchObject(found);
    expect(data[0]).not.toHaveProperty('guard_hits');
    expect(data[0]).not.toHaveProperty('guard_token_ids');
  });

  test('goes on by cursor, and stays the same while others come', async () => {
    const { get, add } = await tenantWith(['a', 'b', 'c'].map((trace) => recordOf(trace)));
    const first = (await get('?size=2')).body;
    await add([recordOf('d')]);
    const { next } = first.pagination;
    const second = (await get(`?size=2&start=${next}`)).body;
    expect([traces(first), traces(second), second.pagination]).toEqual([['c', 'b'], ['a'], { page_size: 2 }]);
    for (const filter of ['status=200', 'status=2xx', `reactor_id=${reactorId}`]) {
      expect((await get(`?${filter}&start=${next}`)).status).toBe(400);
    }
    expect((await get('?start=x')).status).toBe(400);
  });

  test.each([
    [`?proxy_id=${proxyId}`, ['c', 'a']],
    ['?status=403', ['b']],
    ['?status=4xx', ['b']],
    ['?status=2xx', ['r', 'c', 'a']],
    ['?status=5xx', []],
    [`?reactor_id=${reactorId}`, ['r']],
    [`?reactor_id=${reactorId}&status=4xx`, []],
    [`?reactor_id=${proxyId}`, []],
    ['?trace_id=c', ['c']],
    [`?application_id=${proxyId}`, ['c']],
    ['?status=403&trace_id=c', []],
  ])('with the filter %s', async (query, expected) => {
    const { get } = await tenantWith([
      recordOf('a'),
      recordOf('b', { proxy_id: randomUUID(), status: 403 }),
      recordOf('c', { application_id: proxyId }),
      runOf('r'),
    ]);
    expect(traces((await get(query)).body)).toEqual(expected);
  });

  test.each([
    ...[['proxy_id=x'], ['reactor_id=x'], ['application_id=x'], ['size=0'], ['size=101']],
    ...[['status=abc'], ['status=99'], ['status=1000'], ['status=6xx'], ['status=1xx'], ['status=5XX']],
  ])('%s is 400', async (query) => {
    const { status, body } = await api.current.send('GET', `/invocations?${query}`);
    expect([status, Object.keys(body.errors)]).toEqual([400, [query.split('=')[0]]]);
  });

  test('a status that is none is told what is allowed', async () => {
    const { body } = await api.current.send('GET', '/invocations?status=many');
    expect(body.errors).toEqual({
      status: ['must be a status such as 404, or a class of them: 2xx, 3xx, 4xx or 5xx'],
    });
  });

  test('shows what transforms printed only to who may change Proxies', async () => {
    const console = [{ level: 'info', text: 'line' }];
    const { get, reader } = await tenantWith([recordOf('a', { console })]);
    const plain = await reader('log:read');
    const more = await reader('log:read', 'proxy:update');
    expect((await get('', plain.key)).body.data[0]).not.toHaveProperty('console');
    expect((await get('', more.key)).body.data[0].console).toEqual(console);
  });

  test('shows what reactors printed only to who may change reactors', async () => {
    const console = [{ level: 'info', text: 'line' }];
    const { get, reader } = await tenantWith([runOf('r', { console }), recordOf('a', { console })]);
    const shown = async (...permissions: string[]) => {
      const { data } = (await get('', (await reader('log:read', ...permissions)).key)).body;
      return data
        .filter((record: InvocationRecord) => record.console)
        .map((record: InvocationRecord) => record.trace_id);
    };
    expect(await shown()).toEqual([]);
    expect(await shown('proxy:update')).toEqual(['a']);
    expect(await shown('reactor:update')).toEqual(['r']);
    expect(await shown('proxy:update', 'reactor:update')).toEqual(['a', 'r']);
  });

  test('needs log:read, and shows nothing of another Tenant', async () => {
    const { get, reader, tenantId } = await tenantWith([recordOf('a')]);
    expect((await get('', (await reader('proxy:read')).key)).status).toBe(403);
    const { body } = await api.current.send('GET', `/invocations?application_id=${tenantId}`);
    expect(body).toMatchObject({ data: [], skipped: 0 });
    const stranger = await api.current.send('GET', '/invocations', { key: api.current.stranger.management_key });
    expect(stranger.body.data).toEqual([]);
  });

  test('keeps a thousand', async () => {
    const { get, add, tenantId } = await tenantWith(Array.from({ length: mostKept }, (_, i) => recordOf(`t${i}`)));
    await add([recordOf('newest')]);
    expect(traces((await get('?size=1')).body)).toEqual(['newest']);
    expect((await api.current.store.read(tenantId, new Date())).invocations).toHaveLength(mostKept);
  });
});

type Opened = Awaited<ReturnType<typeof follow>>;
const leaving: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(leaving.splice(0).map((leave) => leave())));

async function follow(key: string, query = '') {
  const headers = { Accept: 'text/event-stream' };
  const response = await sendRequest(api.current.url, 'GET', `/invocations${query}`, { key, headers });
  const state = { text: '', ended: undefined as unknown };
  const reader = response.body?.getReader();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return;
      state.text += decoder.decode(value, { stream: true });
    }
  })().then(
    () => {
      state.ended = 'end';
    },
    (error: unknown) => {
      state.ended = error;
    },
  );
  const stream = {
    response,
    state,
    events: () =>
      [...state.text.matchAll(/^(?:id: (.*)\n)?event: (.*)\ndata: (.*)$/gm)].map(([, id, event, data]) => ({
        ...(id !== undefined && { id }),
        event,
        data: JSON.parse(data ?? ''),
      })),
    leave: async () => {
      await reader?.cancel().catch(() => undefined);
      await reading;
    },
  };
  leaving.push(stream.leave);
  return stream;
}

const tracesOf = (stream: Opened) =>
  stream.events().flatMap(({ event, data }) => (event === 'invocation' ? [data.trace_id] : []));

describe('the event stream', () => {
  test('begins with the newest, oldest first, and goes on as they come; gaps are told', async () => {
    const { key, add } = await tenantWith(['a', 'b', 'c'].map((trace) => recordOf(trace)));
    const stream = await follow(key, '?size=2');
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await eventually('the beginning', () => tracesOf(stream).length === 2);
    await add([recordOf('d'), recordOf('e')]);
    await eventually('what came', () => tracesOf(stream).length === 4);
    await add([recordOf('f')], 7);
    await eventually('what came after a gap', () => tracesOf(stream).length === 5);
    expect(tracesOf(stream)).toEqual(['b', 'c', 'd', 'e', 'f']);
    expect(stream.events().filter(({ event }) => event === 'skipped')).toEqual([
      { event: 'skipped', data: { skipped: 7 } },
    ]);
    expect(stream.events().at(-1)?.id).toMatch(/^\d+-\d+$/);
  });

  test('has what the filter lets through', async () => {
    const { key, add } = await tenantWith([recordOf('a')]);
    const stream = await follow(key, '?status=403');
    await add([recordOf('b'), recordOf('c', { status: 403 })]);
    await eventually('what is wanted', () => tracesOf(stream).length === 1);
    expect(tracesOf(stream)).toEqual(['c']);
  });

  test('has runs of reactors, and filters them', async () => {
    const { key, add } = await tenantWith([recordOf('a')]);
    const stream = await follow(key, `?reactor_id=${reactorId}&status=5xx`);
    await add([runOf('b'), runOf('c', { status: 503 }), recordOf('d', { status: 503 })]);
    await eventually('what is wanted', () => tracesOf(stream).length === 1);
    expect(stream.events().at(-1)?.data).toMatchObject({ trace_id: 'c', reactor_id: reactorId, status: 503 });
  });

  test.each<[string, (id: string) => [string, string, object?]]>([
    ['its Application is deleted', (id) => ['DELETE', `/applications/${id}`]],
    ['it may no longer see consoles', (id) => ['PUT', `/applications/${id}`, { name: 'A', permissions: ['log:read'] }]],
    ['its permission is taken', (id) => ['PUT', `/applications/${id}`, { name: 'A', permissions: ['report:read'] }]],
  ])('is reset when %s, and shows nothing of after', async (_, change) => {
    const { key, add, reader } = await tenantWith([recordOf('a')]);
    const { id, key: own } = await reader('log:read', 'proxy:update');
    const [stream, other] = [await follow(own), await follow(key)];
    await eventually('the beginning', () => tracesOf(stream).length === 1 && tracesOf(other).length === 1);
    const [method, path, body] = change(id);
    const { status } = await api.current.send(method, path, { key, ...(body && { body }) });
    expect([200, 204]).toContain(status);
    await add([recordOf('later')]);
    await eventually('the end', () => stream.state.ended !== undefined);
    expect(stream.state.ended).toBeInstanceOf(TypeError);
    await eventually('the other one goes on', () => tracesOf(other).length === 2);
    expect(tracesOf(stream)).toEqual(['a']);
  });

  test('a Tenant has as many as the setting says, and whoever leaves makes room', async () => {
    const { key } = await tenantWith([recordOf('a')]);
    const [first] = [await follow(key), await follow(key)];
    expect((await follow(key)).response.status).toBe(429);
    await first?.leave();
    await eventually('room', async () => {
      const next = await follow(key);
      if (next.response.status !== 200) await next.leave();
      return next.response.status === 200;
    });
  });
});

describe('while Redis is away', () => {
  test('the list is 503, and a stream stays and goes on', async () => {
    const { key, get, add } = await tenantWith([recordOf('a')]);
    const { door } = api.current;
    const stream = await follow(key);
    await eventually('the beginning', () => tracesOf(stream).length === 1);
    const mend = door.stall();
    const { status, headers } = await get();
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    mend();
    await add([recordOf('b')]);
    await eventually('it goes on', () => tracesOf(stream).length === 2);
    await eventually('so does the list', async () => (await get()).status === 200);
  });
});

slow('1.7 s')('many readers of one Tenant with large records do not keep another from its own', async () => {
  const printed = [{ level: 'info' as const, text: 'x'.repeat(1900) }];
  const [many, few] = [await tenantWith([]), await tenantWith([recordOf('mine')])];
  await many.add(Array.from({ length: mostKept }, (_, at) => recordOf(`theirs-${at}`, { console: printed })));
  const reads = Array.from({ length: 200 }, () => many.get());
  for (let i = 0; i < 3; i++) {
    const { status, body } = await few.get();
    expect([status, traces(body)]).toEqual([200, ['mine']]);
  }
  for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
});
