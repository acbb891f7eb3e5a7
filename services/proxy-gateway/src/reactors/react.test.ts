import { randomUUID } from 'node:crypto';
import { tagOf } from '@sluice/cache-coherence';
import { eventually, slow, useStack } from '@sluice/testing';
import { type Reaction, reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

const echo = 'module.exports = async (req) => ({ raw: req.args })';

function react(id: string, key: string | undefined, body: unknown, headers = {}): Promise<Reaction> {
  return reactAt(gateway.current.url, { id, key, body, headers });
}

async function callerOf(permissions = ['token:use', 'token:create']) {
  return (await gateway.current.tenant.application({ permissions })).key;
}

async function rowsOf(entityId: string) {
  const { db } = gateway.current;
  return db.selectFrom('audit_log').selectAll().where('entity_id', '=', entityId).orderBy('at').execute();
}

describe('200', () => {
  test('expressions become values of their JSON types, and what the code returns is the answer', async () => {
    const { tenant } = gateway.current;
    const reactor = await tenant.reactor({ code: echo });
    const ids = {
      object: await tenant.token({ data: { number: 42, deep: [null, true] } }),
      number: await tenant.token({ data: 7 }),
      text: await tenant.token({ data: '7' }),
    };
    const args = {
      ...{ o: `{{ ${ids.object} }}`, n: `{{ ${ids.number} }}`, t: `{{ ${ids.text} }}` },
      within: `<{{ ${ids.object} | json: '$.number' }}>`,
      list: [1, 'plain', `{{ ${ids.number} }}`],
    };
    const { status, body } = await react(reactor.id, await callerOf(), { args });
    const o = { number: 42, deep: [null, true] };
    expect([status, body]).toEqual([200, { raw: { o, n: 7, t: '7', within: '<42>', list: [1, 'plain', 7] } }]);
  });

  test.each<[string, unknown, unknown]>([
    ['no body', undefined, {}],
    ['no args', {}, {}],
    ['null', { args: null }, {}],
    ['a list', { args: [1] }, [1]],
    ['a text', { args: 'x' }, 'x'],
    ['a number', { args: 0 }, 0],
  ])('args may be any JSON: %s', async (_, body, seen) => {
    const reactor = await gateway.current.tenant.reactor({ code: echo });
    expect(await react(reactor.id, await callerOf(), body)).toMatchObject({ status: 200, body: { raw: seen } });
  });

  test('each member of the result is optional', async () => {
    const { tenant } = gateway.current;
    const key = await callerOf();
    const answerTo = async (result: string) => {
      const { id } = await tenant.reactor({ code: `module.exports = async () => (${result})` });
      return (await react(id, key, {})).body;
    };
    expect(await answerTo('{}')).toEqual({});
    expect(await answerTo('{ body: null, headers: { a: "b" }, raw: undefined }')).toEqual({
      body: null,
      headers: { a: 'b' },
    });
    expect(await answerTo('{ raw: [1], tokenize: null }')).toEqual({ raw: [1], tokens: null });
  });

  test('what it returns to be tokenized becomes tokens of the caller', async () => {
    const { tenant, db } = gateway.current;
    const application = await tenant.application({ permissions: ['token:use', 'token:create', 'token:read'] });
    const code = `module.exports = async () => ({ tokenize: { a: 'first', b: { type: 'token', data: { c: 1 } } } })`;
    const { id } = await tenant.reactor({ code });
    const { status, body } = await react(id, application.key, {});
    expect([status, body]).toEqual([
      200,
      { tokens: { a: expect.any(String), b: expect.objectContaining({ type: 'token' }) } },
    ]);
    const { a } = body.tokens as { a: string };
    const row = await db.selectFrom('tokens').select('created_by').where('id', '=', a).executeTakeFirstOrThrow();
    expect(row.created_by).toBe(application.id);
  });

  test('the code has the configuration, and the client of its Application', async () => {
    const { tenant } = gateway.current;
    const application = await tenant.application({ permissions: ['token:create', 'token:use'] });
    const code = `module.exports = async (req) => {
      const { id } = await req.svc.tokens.create({ type: 'token', data: 'kept' });
      return { raw: { configuration: req.configuration, back: await req.svc.detokenize('{{ ' + id + ' }}') } } }`;
    const configuration = { url: 'https://a.example', retries: 2, live: true };
    const { id } = await tenant.reactor({ code, applicationId: application.id, configuration });
    expect((await react(id, await callerOf(['token:use']), {})).body).toEqual({ raw: { configuration, back: 'kept' } });
  });

  test('a formula gives the code, and the members of args that it declares are cast', async () => {
    const { tenant } = gateway.current;
    const token = await tenant.token({ data: '12.5' });
    const parameters = [
      { name: 'amount', type: 'number' },
      { name: 'live', type: 'boolean', optional: true },
    ] as const;
    const { id } = await tenant.reactor({ formula: { code: echo, parameters } });
    const key = await callerOf();
    const args = { amount: `{{ ${token} }}`, live: 'true', other: '1' };
    expect((await react(id, key, { args })).body).toEqual({ raw: { amount: 12.5, live: true, other: '1' } });
    expect((await react(id, key, { args: { amount: 1 } })).body).toEqual({ raw: { amount: 1 } });
  });

  test('a session of the reactor calls it', async () => {
    const { tenant } = gateway.current;
    const application = await tenant.application();
    const { id } = await tenant.reactor({ code: echo });
    const session = await tenant.session(application.id, { reactors: [id] });
    expect((await react(id, session.key, { args: 1 })).body).toEqual({ raw: 1 });
  });

  test('it calls a destination, and the log says who was told what', async () => {
    const { tenant, destination } = gateway.current;
    const application = await tenant.application();
    const token = await tenant.token({ data: 'a value' });
    const code = `module.exports = async (req) => {
      const answer = await fetch(req.args.url, { method: 'POST', body: req.args.value });
      return { raw: [answer.status, await answer.json()] } }`;
    const { id } = await tenant.reactor({ code });
    const args = { url: destination.url, value: `{{ ${token} }}` };
    expect((await react(id, application.key, { args })).body).toEqual({ raw: [200, { ok: true }] });
    expect(destination.seen.at(-1)).toMatchObject({
      method: 'POST',
      headers: { 'cdn-loop': 'sluice', 'content-type': 'text/plain;charset=UTF-8' },
      body: 'a value',
    });
    await eventually('both rows', async () => (await rowsOf(id)).length === 2);
    const shared = { entity_type: 'reactor', operation: 'use', actor_id: application.id };
    const application_id = application.id;
    expect(await rowsOf(id)).toMatchObject([
      { ...shared, detail: { token_ids: [token], application_id } },
      { ...shared, detail: { token_ids: [], destination_hosts: [new URL(destination.url).host], calls: 1 } },
    ]);
  });
});

describe('failures', () => {
  test('401 without a key, and for a bad one', async () => {
    const { id } = await gateway.current.tenant.reactor({ code: echo });
    expect((await react(id, undefined, {})).status).toBe(401);
    expect((await react(id, 'svc_test_prv_x', {})).status).toBe(401);
  });

  test.each([
    ['{"args":9007199254740993}', 'args'],
    ['{"args":{"amounts":[1,-9007199254740993]}}', 'args.amounts[1]'],
    ['{"args":{"a":1e400}}', 'args.a'],
  ])('400 for a number that would be rounded: %s; before the reactor is looked for', async (body, path) => {
    const { id } = await gateway.current.tenant.reactor({ code: echo });
    for (const reactor of [id, randomUUID()]) {
      const answer = await react(reactor, await callerOf(), body);
      expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([400, [path]]);
    }
  });

  test('the control: the largest integer, and a token that holds a longer one as text, arrive as they are', async () => {
    const { tenant } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    const token = await tenant.token({ data: '9007199254740993' });
    const args = { most: Number.MAX_SAFE_INTEGER, text: `{{ ${token} }}`, number: `{{ ${token} | to_number }}` };
    expect((await react(id, await callerOf(), { args })).body.raw).toEqual({
      ...{ most: Number.MAX_SAFE_INTEGER, text: '9007199254740993' },
      number: null,
    });
  });

  test('403 without token:use', async () => {
    const { id } = await gateway.current.tenant.reactor({ code: echo });
    expect(await react(id, await callerOf(['token:create']), {})).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('token:use') },
    });
  });

  test('403 for a session of other reactors, and of Proxies', async () => {
    const { tenant } = gateway.current;
    const application = await tenant.application();
    const { id } = await tenant.reactor({ code: echo });
    for (const parts of [{ reactors: [randomUUID()] }, { proxies: [randomUUID()] }]) {
      const { key } = await tenant.session(application.id, parts);
      expect(await react(id, key, {})).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('session') },
      });
    }
  });

  test('403 for a token whose rule only reads it, and nothing of it runs', async () => {
    const { tenant, destination } = gateway.current;
    const { key } = await tenant.application({
      permissions: [],
      rules: [
        { container: '/seen/', permissions: ['token:read'], transform: 'reveal', priority: 1 },
        { container: '/used/', permissions: ['token:use'], transform: 'mask', priority: 2 },
      ],
    });
    const seen = await tenant.token({ data: 'x', containers: ['/seen/'] });
    const used = await tenant.token({ data: 'y', containers: ['/used/'] });
    const { id } = await tenant.reactor({
      code: `module.exports = async (req) => { await fetch('${destination.url}'); return { raw: req.args } }`,
    });
    const before = destination.seen.length;
    expect(await react(id, key, { args: `{{ ${seen} }}` })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining(seen) },
    });
    expect(destination.seen).toHaveLength(before);
    expect((await react(id, key, { args: `{{ ${used} }}` })).body).toEqual({ raw: 'y' });
  });

  test('403 for what is to be tokenized without token:create', async () => {
    const { id } = await gateway.current.tenant.reactor({ code: 'module.exports = async () => ({ tokenize: "x" })' });
    expect(await react(id, await callerOf(['token:use']), {})).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('token:create') },
    });
  });

  test('404 for another Tenant’s reactor, as for one that is unknown', async () => {
    const { tenant, stranger } = gateway.current;
    const { id } = await stranger.reactor({ code: echo });
    const unknown = randomUUID();
    const key = await callerOf();
    const [foreign, none] = [await react(id, key, {}), await react(unknown, key, {})];
    const shown = ({ status, body }: Reaction, name: string) => [
      status,
      JSON.stringify({ ...body, instance: 0 }).replace(name, ''),
    ];
    expect(shown(foreign, id)).toEqual(shown(none, unknown));
    expect(foreign.status).toBe(404);
    expect((await react((await tenant.reactor({ code: echo })).id, key, {})).status).toBe(200);
  });

  test.each<[string, unknown, object]>([
    ['args that are cut off', '{"args":', {}],
    ['a member of args that is missing', { args: {} }, { errors: { 'args.amount': ['is required'] } }],
    [
      'a member of args of another type',
      { args: { amount: 'x' } },
      { errors: { 'args.amount': ['must be a number'] } },
    ],
    ['args that are no object', { args: [] }, { errors: { args: ['must be an object'] } }],
    ['an unknown token', { args: { amount: '{{ nobody }}' } }, { detail: 'Unknown tokens: nobody' }],
    ['an expression that is none', { args: { amount: '{{ }}' } }, { detail: expect.stringContaining('amount') }],
  ])('400 for %s', async (_, body, expected) => {
    const parameters = [{ name: 'amount', type: 'number' }] as const;
    const { id } = await gateway.current.tenant.reactor({ formula: { code: echo, parameters } });
    expect(await react(id, await callerOf(), body)).toMatchObject({ status: 400, body: expected });
  });

  test('400 for an id that is none', async () => {
    expect((await react('nobody', await callerOf(), {})).status).toBe(400);
  });

  test('a value does not stand in the error of a parameter', async () => {
    const { tenant } = gateway.current;
    const token = await tenant.token({ data: 'topsecret' });
    const { id } = await tenant.reactor({ formula: { code: echo, parameters: [{ name: 'n', type: 'number' }] } });
    const { status, body } = await react(id, await callerOf(), { args: { n: `{{ ${token} }}` } });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.not.stringContaining('topsecret')]);
  });

  test('405 for another method, and 404 for another path', async () => {
    const { url, tenant } = gateway.current;
    const { id } = await tenant.reactor({ code: echo });
    expect((await fetch(`${url}/reactors/${id}/react`)).status).toBe(405);
    expect((await fetch(`${url}/reactors/${id}/other`, { method: 'POST' })).status).toBe(404);
  });

  test('413 for more than 5 MiB', async () => {
    const { id } = await gateway.current.tenant.reactor({
      code: 'module.exports = async (req) => ({ raw: req.args.length })',
    });
    const key = await callerOf();
    expect((await react(id, key, { args: 'x'.repeat(5 * 2 ** 20) })).status).toBe(413);
    expect((await react(id, key, { args: 'x'.repeat(5 * 2 ** 20 - 100) })).body).toEqual({ raw: 5 * 2 ** 20 - 100 });
  });

  test('415 for another type', async () => {
    const { id } = await gateway.current.tenant.reactor({ code: echo });
    expect((await react(id, await callerOf(), 'x', { 'Content-Type': 'text/plain' })).status).toBe(415);
  });

  test('508 for a call that has come through four times, and the destination hears of each', async () => {
    const { tenant, destination } = gateway.current;
    const { id } = await tenant.reactor({
      code: `module.exports = async () => { await fetch('${destination.url}'); return {} }`,
    });
    const key = await callerOf();
    const passes = (count: number) => ({ 'CDN-Loop': Array(count).fill('sluice').join(', ') });
    expect((await react(id, key, {}, passes(4))).status).toBe(508);
    expect((await react(id, key, {}, passes(3))).status).toBe(200);
    expect(destination.seen.at(-1)?.headers['cdn-loop']).toBe('sluice, sluice, sluice, sluice');
  });

  test.each<[string, string, number, string]>([
    ['what it throws', 'const a = 1;\n  throw new RangeError("too far")', 500, 'RangeError: too far (line 2)'],
    ['BadRequestError', 'throw new (require("svc-errors").BadRequestError)("no")', 400, 'no'],
    ['AuthorizationError', 'throw new (require("svc-errors").AuthorizationError)("no")', 403, 'no'],
    ['RateLimitError', 'throw new (require("svc-errors").RateLimitError)("no")', 429, 'no'],
    ['TransformRuntimeError', 'throw new (require("svc-errors").TransformRuntimeError)("no")', 500, 'no'],
    ['a result that is none', 'return [1]', 500, 'the reactor returned an array'],
    ['nothing', '', 500, 'the reactor returned nothing'],
    ['an unknown member', 'return { result: 1 }', 500, 'the reactor returned an object with "result"'],
    [
      'a custom response',
      `throw new (require("svc-errors").CustomHttpResponseError)({ status: 402, body: "x" })`,
      402,
      'The reactor responded with status 402',
    ],
    [
      'one of 599',
      `throw new (require("svc-errors").CustomHttpResponseError)({ status: 599 })`,
      599,
      'The reactor responded with status 599',
    ],
    [
      'one that is no error',
      `throw new (require("svc-errors").CustomHttpResponseError)({ status: 201 })`,
      500,
      'with the status 201',
    ],
    ['an object that is no Error', 'throw { message: "declined" }', 500, 'the reactor threw declined'],
    ['a client that is absent', 'await req.svc.detokenize(1)', 500, 'the reactor has no Application'],
    [
      'a destination that is closed',
      'await fetch("http://127.0.0.1:1/")',
      500,
      'fetch failed: The destination could not',
    ],
  ])('a problem with its status for %s', async (_, ...row) => failsWith(...row));

  slow('2.5 s')('a problem with its status for time', () =>
    failsWith('for (;;);', 500, 'The reactor was stopped: it used more than 2000 ms of CPU time'),
  );

  async function failsWith(statements: string, status: number, detail: string) {
    const { id } = await gateway.current.tenant.reactor({ code: `module.exports = async (req) => { ${statements} }` });
    const answer = await react(id, await callerOf(), {});
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    const title = status === 500 || status === 402 ? { title: 'Reactor failed' } : {};
    expect(answer).toMatchObject({ status, body: { status, ...title, detail: expect.stringContaining(detail) } });
  }

  test('a secret that its error shows is redacted', async () => {
    const { tenant } = gateway.current;
    const token = await tenant.token({ data: 'topsecret value' });
    const { id } = await tenant.reactor({
      code: 'module.exports = async (req) => { throw new Error("got " + req.args) }',
    });
    const { body } = await react(id, await callerOf(), { args: `{{ ${token} }}` });
    expect(body.detail).toMatch(/got \[redacted\]/);
  });

  test('tokens are all or none', async () => {
    const { tenant, db } = gateway.current;
    const code = `module.exports = async () => ({ tokenize: { a: 'made?', b: { type: 'card', data: { number: 'x' } } } })`;
    const { id } = await tenant.reactor({ code });
    const count = () => db.selectFrom('tokens').select('id').where('tenant_id', '=', tenant.id).execute();
    const before = await count();
    expect(await react(id, await callerOf(), {})).toMatchObject({ status: 400, body: { errors: expect.anything() } });
    expect(await count()).toHaveLength(before.length);
  });
});

test('another version of code or formula runs as soon as its change is confirmed', async () => {
  const { tenant, db, announce } = gateway.current;
  const { id, formulaId = '' } = await tenant.reactor({
    formula: { code: 'module.exports = async () => ({ raw: 1 })' },
  });
  const key = await callerOf();
  expect((await react(id, key, {})).body).toEqual({ raw: 1 });
  const code = 'module.exports = async () => ({ raw: 2 })';
  await db.updateTable('reactor_formulas').set({ code }).where('id', '=', formulaId).execute();
  expect((await react(id, key, {})).body).toEqual({ raw: 1 }); // Control: the gateway has it cached
  await announce(tenant.id, [tagOf.reactorFormula(formulaId)]);
  expect((await react(id, key, {})).body).toEqual({ raw: 2 });
  await db.deleteFrom('reactors').where('id', '=', id).execute();
  await announce(tenant.id, [tagOf.reactor(id)]);
  expect((await react(id, key, {})).status).toBe(404);
});

test('the runs are in the metrics', async () => {
  const { tenant, metrics } = gateway.current;
  const { id } = await tenant.reactor({ code: echo });
  await react(id, await callerOf(), {});
  const text = await metrics.metrics();
  expect(text).toMatch(/sluice_reactor_runs_total [1-9]/);
  expect(text).toContain('sluice_reactor_places_taken 0');
  expect(text).toMatch(
    /sluice_http_request_duration_seconds_count\{operation="POST \/reactors\/:id\/react",status_class="2xx"\} [1-9]/,
  );
});
