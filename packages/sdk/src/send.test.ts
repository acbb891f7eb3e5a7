import { ConnectionError, SluiceError, TimeoutError, ValidationError } from './index.ts';
import { lost, type Step, startScripted } from './testing/scripted-server.ts';

const done: Step = { status: 200, body: { id: '1' } };
const again = (status: number): Step => ({ status, headers: { 'retry-after': '0' }, body: { title: 'Later', status } });
const cutOff: Step = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"id":', () => response.destroy());
};

type Scripted = Awaited<ReturnType<typeof startScripted>>;
const calls: [string, (client: Scripted['sluice']) => Promise<unknown>][] = [
  ['GET', (sluice) => sluice.proxies.get('1')],
  ['PUT', (sluice) => sluice.tenant.update({ name: 'A' })],
  ['DELETE', (sluice) => sluice.proxies.delete('1')],
  ['POST that takes an idempotency key', (sluice) => sluice.tokens.create({ data: 1 })],
  ['PATCH that takes an idempotency key', (sluice) => sluice.tokens.patch('1', {})],
  ['search', (sluice) => sluice.tokens.search({ query: 'a' }).page()],
  ['detokenize', (sluice) => sluice.detokenize(1)],
];

describe.each(calls)('%s', (_name, call) => {
  test.each([
    ['429', again(429)],
    ['503', again(503)],
    ['a lost connection', lost],
    ['an answer that was cut off', cutOff],
  ])('is sent again after %s', async (_case, fault) => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [fault, fault, done]);
    await call(sluice);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).size).toBe(1);
  });

  test('is sent three times at most', async () => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [again(503)]);
    await expect(call(sluice)).rejects.toMatchObject({ status: 503, title: 'Later' });
    expect(seen).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 500, 502, 504])('is not sent again after %i', async (status) => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [again(status), done]);
    await expect(call(sluice)).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });
});

test.each([again(429), again(503), lost])('a POST without an idempotency key is sent once', async (fault) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [fault, done]);
  const trial = sluice.proxies.testTransform({ code: '', args: {} });
  await expect(trial).rejects.toThrow(SluiceError);
  expect(seen).toHaveLength(1);
});

test('an answer of a destination is not asked for again', async () => {
  await using stack = new AsyncDisposableStack();
  const headers = { 'retry-after': '0', 'svc-proxy-destination-status': '503' };
  const { seen, sluice } = await startScripted(stack, [{ status: 503, headers }, done]);
  await expect(sluice.proxies.get('1')).rejects.toMatchObject({ status: 503 });
  expect(seen).toHaveLength(1);
});

test('all tries of a call have one idempotency key, and each call its own', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [lost, again(503), done]);
  await sluice.tokens.create({ data: 1 });
  await sluice.tokens.create({ data: 1 });
  await sluice.tokens.create({ data: 1 }, { idempotencyKey: 'mine' });
  const keys = seen.map(({ headers }) => headers['svc-idempotency-key']);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
  expect(keys[3]).not.toBe(keys[0]);
  expect(keys[4]).toBe('mine');
});

test.each([
  ['a lost connection', lost],
  ['503, which also stands for a service that was lost', again(503)],
])('a 404 to a DELETE counts as done after %s', async (_name, fault) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [fault, { status: 404 }]);
  await expect(sluice.proxies.delete('1')).resolves.toBeUndefined();
});

test.each([
  ['a DELETE of which no try was lost', [again(429), { status: 404 }], 'delete'],
  ['a GET', [lost, { status: 404 }], 'get'],
] as const)('a 404 to %s is an error', async (_name, steps, verb) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [...steps]);
  await expect(sluice.proxies[verb]('1')).rejects.toMatchObject({ status: 404, name: 'NotFoundError' });
});

const underWay: Step = { status: 409, headers: { 'retry-after': '0' }, body: { type: 'urn:sluice:problem:conflict' } };
test('after a lost try, its request may still be under way: the call waits for its answer', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [lost, underWay, done]);
  await expect(sluice.tokens.create({ data: 1 })).resolves.toMatchObject({ id: '1' });
  expect(seen).toHaveLength(3);
});

test.each<[string, Step[]]>([
  ['where no try was lost', [underWay, done]],
  ['that names no time', [lost, { status: 409 }, done]],
  ['that stays', [lost, underWay, underWay, done]],
])('a 409 %s is an error', async (_name, steps) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, steps);
  await expect(sluice.tokens.create({ data: 1 })).rejects.toMatchObject({ name: 'ConflictError' });
  expect(seen).toHaveLength(steps.length - 1);
});

const refused: Step = { status: 401, body: { type: 'urn:sluice:problem:unauthenticated' } };
const ending: [string, (client: Scripted['sluice']) => Promise<void>][] = [
  ['the session', (sluice) => sluice.sessions.deleteSelf()],
  ['the Tenant', (sluice) => sluice.tenant.delete()],
];
test.each(ending)('a 401 to the end of %s counts as done after a lost connection', async (_name, end) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [lost, refused]);
  await expect(end(sluice)).resolves.toBeUndefined();
  const first = await startScripted(stack, [refused]);
  await expect(end(first.sluice)).rejects.toMatchObject({ status: 401 });
});

test('a 401 to another DELETE is an error, since the key was none before', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [lost, refused]);
  await expect(sluice.proxies.delete('1')).rejects.toMatchObject({ status: 401 });
});

test.each([
  ['timeoutMs', Number.POSITIVE_INFINITY],
  ['timeoutMs', 2 ** 31],
  ['timeoutMs', 0],
  ['timeoutMs', Number.NaN],
  ['retries', -1],
  ['retries', 1.5],
  ['retries', Number.NaN],
] as const)('a call with %s %d is refused, and nothing is sent', async (name, value) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [{ status: 200, body: { id: 'x' } }]);
  const refusal = { name: 'TypeError', message: expect.stringContaining(name) };
  await expect(sluice.tokens.create({ data: 'sesame' }, { [name]: value })).rejects.toMatchObject(refusal);
  await expect(sluice.tokens.list({}, { [name]: value }).toArray()).rejects.toMatchObject(refusal);
  expect(seen).toEqual([]);
});

test('retries can be switched off, for the client and for a call', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [again(503)], { retries: 0 });
  await expect(sluice.proxies.get('1')).rejects.toThrow(SluiceError);
  expect(seen).toHaveLength(1);
  await expect(sluice.proxies.get('1', { retries: 1 })).rejects.toThrow(SluiceError);
  expect(seen).toHaveLength(3);
});

test('who is told to wait longer than the call may take is told so at once', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [{ status: 429, headers: { 'retry-after': '3600' } }]);
  await expect(sluice.proxies.get('1')).rejects.toMatchObject({ name: 'RateLimitError', retryAfterSeconds: 3600 });
  expect(seen).toHaveLength(1);
});

describe('Retry-After', () => {
  const told = async (header: string) => {
    await using stack = new AsyncDisposableStack();
    const answer = { status: 429, headers: { 'retry-after': header } };
    const { sluice } = await startScripted(stack, [answer], { retries: 0 });
    const error = await sluice.proxies.get('1').catch((thrown: unknown) => thrown);
    return (error as SluiceError).retryAfterSeconds;
  };

  test.each<[header: string, seconds: number | undefined]>([
    ['7', 7],
    [' 7 ', 7],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sun Nov  6 08:49:37 1994', 0],
    ...['1.5', '-3', '1e3', '0x10', '', 'soon', '2094-11-06', 'Sun 1', '1, 2'].map((text): [string, undefined] => [
      text,
      undefined,
    ]),
  ])('%j is %p', async (header, seconds) => {
    expect(await told(header)).toBe(seconds);
  });

  test.each(['Sat, 06 Nov 2094 08:49:37 GMT', 'Sat Nov  6 08:49:37 2094'])('%s is a date to come', async (header) => {
    const seconds = (Date.UTC(2094, 10, 6, 8, 49, 37) - Date.now()) / 1000;
    expect(await told(header)).toBeCloseTo(seconds, -2);
  });

  test('that is no such text counts as absent, so the call is sent again', async () => {
    await using stack = new AsyncDisposableStack();
    const answer = { status: 503, headers: { 'retry-after': '-3' } };
    const { seen, sluice } = await startScripted(stack, [answer, { status: 200, body: {} }]);
    await sluice.proxies.get('1');
    expect(seen).toHaveLength(2);
  });
});

test('a call ends at its timeout, and is not sent again', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [() => {}], { timeoutMs: 1000 });
  await expect(sluice.proxies.get('1')).rejects.toThrow(TimeoutError);
  expect(seen).toHaveLength(1);
});

test('a signal ends a call while it is under way and while it waits, with its own reason', async () => {
  await using stack = new AsyncDisposableStack();
  const underWay = new AbortController();
  const hanging = await startScripted(stack, [() => underWay.abort(new Error('enough'))]);
  await expect(hanging.sluice.proxies.get('1', { signal: underWay.signal })).rejects.toThrow('enough');

  const waiting = new AbortController();
  const busy = await startScripted(stack, [
    (_, response) => {
      response.writeHead(503, { 'retry-after': '20' }).end();
      response.on('close', () => setTimeout(() => waiting.abort(new Error('no more')), 20));
    },
  ]);
  await expect(busy.sluice.proxies.get('1', { signal: waiting.signal })).rejects.toThrow('no more');
  expect(busy.seen).toHaveLength(1);
  await expect(busy.sluice.proxies.get('1', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
    'before',
  );
});

test('a problem becomes an error with its fields', async () => {
  await using stack = new AsyncDisposableStack();
  const problem = {
    type: 'urn:sluice:problem:validation_failed',
    title: 'One or more validation errors occurred.',
    status: 400,
    detail: 'name is required',
    instance: 'trace-7',
    errors: { 'rules[0].priority': ['must be >= 1'], name: ['is required'] },
  };
  const { sluice } = await startScripted(stack, [{ status: 400, body: problem }]);
  const error = await sluice.proxies.get('1').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ValidationError);
  expect(error).toMatchObject({
    name: 'ValidationError',
    status: 400,
    code: 'validation_failed',
    title: problem.title,
    detail: problem.detail,
    errors: problem.errors,
    traceId: 'trace-7',
    message: 'GET /proxies/{id}: rules[0].priority must be >= 1; name is required (status 400, trace trace-7)',
  });
});

test("a failure that is no problem document has its status, and nothing of what a balancer's page says", async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [{ status: 502, body: '<h1>4242424242424242</h1>' }]);
  const error = await sluice.proxies.get('1').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ServiceError', status: 502, title: 'The service answered 502' });
  expect(String(error)).not.toContain('4242');
});

test('a redirect is not followed, so that the key goes nowhere else', async () => {
  await using stack = new AsyncDisposableStack();
  const elsewhere = await startScripted(stack, [done]);
  const { sluice } = await startScripted(stack, [{ status: 307, headers: { location: elsewhere.baseUrl } }]);
  await expect(sluice.proxies.get('1')).rejects.toMatchObject({
    status: 307,
    title: expect.stringContaining('redirects'),
  });
  expect(elsewhere.seen).toEqual([]);
});

test('nobody there is a connection error with the code of its cause', async () => {
  await using stack = new AsyncDisposableStack();
  const { baseUrl } = await startScripted(stack, [done]);
  await stack.disposeAsync();
  const { Sluice } = await import('./index.ts');
  const sluice = new Sluice({ baseUrl, apiKey: 'k', retries: 0 });
  const error = await sluice.proxies.get('1').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({
    status: undefined,
    code: 'ECONNREFUSED',
    message: `GET /proxies/{id}: no answer (ECONNREFUSED) from ${baseUrl}`,
  });
});
