import { generateApiKey } from '@sluice/credentials';
import { type CallOptions, sendRequest, useStack } from '@sluice/testing';
import { operations } from './app.ts';
import { everything, reveal, startTestTokenVault } from './testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);

const send = (method: string, path: string, options?: CallOptions) => service.current.send(method, path, options);
const createTenant = () => service.current.createTenant();
const createKey = (application: Parameters<typeof service.current.createKey>[0]) =>
  service.current.createKey(application);

const card = { type: 'card', data: { number: '4242424242424242', cvc: '987' } };
const text = { headers: { 'Content-Type': 'text/plain' } };

const every: [string, string, string][] = [
  ['POST', '/tokens', 'token:create'],
  ['GET', '/tokens', 'token:read'],
  ['POST', '/tokens/search', 'token:search'],
  ['PATCH', '/tokens/some-id', 'token:update'],
  ['GET', '/tokens/some-id', 'token:read'],
  ['DELETE', '/tokens/some-id', 'token:delete'],
  ['POST', '/tokenize', 'token:create'],
  ['POST', '/detokenize', 'token:read'],
  ['GET', '/v2/tokens', 'token:read'],
  ['POST', '/v2/tokens/search', 'token:search'],
];

test('every operation is in the loop below', () => {
  const records = operations.map(({ method, path, permission }) => [
    method.toUpperCase(),
    path.replace(':id', 'some-id'),
    permission,
  ]);
  expect(every.toSorted()).toEqual(records.toSorted());
});

describe.each(every)('%s %s', (method, path, permission) => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { 'Content-Type': type };
  const body = method === 'POST' || method === 'PATCH' ? { data: 1 } : undefined;

  test('401 without a key that is known', async () => {
    expect((await send(method, path, { body, headers })).status).toBe(401);
    expect((await send(method, path, { body, headers, key: generateApiKey('test', 'private') })).status).toBe(401);
  });

  test('403 without the permission, before the body is looked at', async () => {
    const key = await createKey({ permissions: everything.filter((held) => held !== permission) });
    const { status, body: problem } = await send(method, path, { key, ...(body && { body: '{', ...text }) });
    expect({ status, detail: problem.detail }).toEqual({
      status: 403,
      detail: `This operation needs the permission ${permission}`,
    });
  });

  test('a slash at the end is the same path', async () => {
    const key = await createKey({ permissions: everything });
    const answer = async (at: string) => {
      const { instance: _, ...problem } = (await send(method, at, { key, headers, ...(body && { body: [] }) })).body;
      return problem;
    };
    expect(await answer(`${path}/`)).toEqual(await answer(path));
    expect((await send(method, `${path}//`, { key, headers })).status).toBe(404);
  });

  if (!body) return;

  test('415 for another content type, 400 for a body that is not JSON, 413 for one that is too large', async () => {
    const key = await createKey({ permissions: everything });
    expect((await send(method, path, { key, body: '{}', ...text })).status).toBe(415);
    if (method === 'PATCH') expect((await send(method, path, { key, body })).status).toBe(415);
    expect((await send(method, path, { key, headers, body: '{"data":"hunter2' })).status).toBe(400);
    expect((await send(method, path, { key, headers, body: '' })).status).toBe(400);
    const large = await send(method, path, { key, headers, body: { data: 'x'.repeat(2 * 1024 * 1024) } });
    expect(large.status).toBe(413);
  });
});

describe('POST /tokens', () => {
  test('201 with the token and its Location, at which it is found', async () => {
    const key = await createKey({ rules: [reveal] });
    const { status, headers, body } = await send('POST', '/tokens', { key, body: { ...card, id: 'a b:c' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: 'a b:c', type: 'card', data: card.data, containers: ['/pci/high/'] });
    const location = headers.get('location') ?? '';
    expect(location).toBe('/tokens/a%20b%3Ac');
    expect((await send('GET', location, { key })).body).toEqual(body);
  });

  test('a public Application creates and sees no data', async () => {
    const key = await createKey({ type: 'public', permissions: ['token:create'] });
    const { status, body } = await send('POST', '/tokens', { key, body: card });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('data');
  });

  test('data may hold any text; the rest may not', async () => {
    const key = await createKey({ rules: [reveal] });
    const { status, body } = await send('POST', '/tokens', { key, body: { data: ['\u0000', '\ud800'] } });
    expect(status).toBe(201);
    expect(body.data).toEqual(['\u0000', '\ud800']);
    expect((await send('POST', '/tokens', { key, body: { data: 1, metadata: { a: '\u0000' } } })).status).toBe(400);
  });

  test('200 with the equal token where tokens are deduplicated', async () => {
    const key = await createKey({ permissions: everything });
    const first = await send('POST', '/tokens', { key, body: card });
    const second = await send('POST', '/tokens', { key, body: { ...card, deduplicate_token: true } });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.id).toBe(first.body.id);
  });

  test('400 that names the member and never repeats the value', async () => {
    const key = await createKey({ permissions: everything });
    const wrong = { type: 'card', data: { number: '4242424242424241', cvc: 'hunter2' }, containers: 'x' };
    const shape = await send('POST', '/tokens', { key, body: wrong });
    expect(shape.status).toBe(400);
    expect(Object.keys(shape.body.errors)).toEqual(['containers']);
    const data = await send('POST', '/tokens', { key, body: { ...wrong, containers: null } });
    expect(data.status).toBe(400);
    expect(Object.keys(data.body.errors)).toEqual(['data.number', 'data.cvc']);
    expect(JSON.stringify([shape.body, data.body])).not.toMatch(/42424242|hunter2/);
  });

  test('400 for data that is nested without end', async () => {
    const key = await createKey({ permissions: everything });
    const body = `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect((await send('POST', '/tokens', { key, body })).status).toBe(400);
  });

  test('403 for a container without token:create', async () => {
    const rules = [{ ...reveal, container: '/general/' }];
    const key = await createKey({ rules });
    expect((await send('POST', '/tokens', { key, body: { data: 1 } })).status).toBe(201);
    const { status, body } = await send('POST', '/tokens', { key, body: card });
    expect(status).toBe(403);
    expect(body.detail).toContain('/pci/high/');
  });

  test('409 for an id that is taken', async () => {
    const key = await createKey({ permissions: everything });
    const body = { id: 'taken', data: 1 };
    expect((await send('POST', '/tokens', { key, body })).status).toBe(201);
    expect((await send('POST', '/tokens', { key, body })).status).toBe(409);
  });

  test('browsers of any origin may call it', async () => {
    const preflight = await send('OPTIONS', '/tokens');
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect((await send('OPTIONS', '/detokenize')).headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('GET and DELETE /tokens/{id}', () => {
  test('200 with data as the rule gives it, 204, and then 404', async () => {
    const tenantId = await createTenant();
    const key = await createKey({ tenantId, permissions: everything });
    const { id } = (await send('POST', '/tokens', { key, body: card })).body;
    const masked = await send('GET', `/tokens/${id}`, { key });
    expect([masked.status, masked.body.data]).toEqual([200, { number: 'XXXXXXXXXXXX4242' }]);
    expect(masked.headers.get('cache-control')).toBe('no-store');
    const plain = await send('GET', `/tokens/${id}`, { key: await createKey({ tenantId, rules: [reveal] }) });
    expect(plain.body.data).toEqual(card.data);
    const gone = await send('DELETE', `/tokens/${id}`, { key });
    expect(gone.headers.get('svc-revocation')).toMatch(/^change=[0-9a-f-]{36}, holders=[1-9]/);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect((await send('GET', `/tokens/${id}`, { key })).status).toBe(404);
    expect((await send('DELETE', `/tokens/${id}`, { key })).status).toBe(404);
  });

  test('another Tenant’s token looks exactly like one that does not exist', async () => {
    const key = await createKey({ permissions: everything });
    const foreignKey = await createKey({ permissions: everything });
    const { id } = (await send('POST', '/tokens', { key: foreignKey, body: card })).body;
    for (const method of ['GET', 'DELETE']) {
      const [foreign, unknown] = [
        await send(method, `/tokens/${id}`, { key }),
        await send(method, '/tokens/nope', { key }),
      ];
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    }
  });

  test('403 where no rule covers the token', async () => {
    const tenantId = await createTenant();
    const { body } = await send('POST', '/tokens', { key: await createKey({ tenantId, rules: [reveal] }), body: card });
    const key = await createKey({ tenantId, rules: [{ ...reveal, container: '/bank/' }] });
    expect((await send('GET', `/tokens/${body.id}`, { key })).status).toBe(403);
    expect((await send('DELETE', `/tokens/${body.id}`, { key })).status).toBe(403);
  });
});

describe('POST /tokenize and /detokenize', () => {
  test('200: what was tokenized comes back', async () => {
    const key = await createKey({ rules: [reveal] });
    const document = { card, name: 'Ada', years: [1815, 1852] };
    const { status, body } = await send('POST', '/tokenize', { key, body: document });
    expect(status).toBe(200);
    expect(body.card).toMatchObject({ type: 'card', data: card.data });
    const expressions = {
      card: `{{ ${body.card.id} }}`,
      name: `Countess {{ ${body.name} | upcase }}`,
      years: body.years.map((id: string) => `{{${id}}}`),
    };
    const restored = await send('POST', '/detokenize', { key, body: expressions });
    expect(restored.status).toBe(200);
    expect(restored.body).toEqual({ card: card.data, name: 'Countess ADA', years: [1815, 1852] });
  });

  test('detokenize leaves all but the expressions as it was sent, numbers with their digits', async () => {
    const key = await createKey({ rules: [reveal] });
    const id = (await send('POST', '/tokens', { key, body: { data: 'say "hi"\n' } })).body.id;
    const number = (await send('POST', '/tokens', { key, body: { data: { n: 1.5 } } })).body.id;
    const ask = async (body: string) => {
      const answer = await sendRequest(service.current.url, 'POST', '/detokenize', { key, body });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      return answer.text();
    };
    const numbers = '{"amount":10.00,"id":9007199254740993,"x":1e400,"zero":-0.0 , "small":1E-7}';
    expect(await ask(numbers)).toBe(numbers);
    const around = (first: string, second: string) =>
      `{ "2":${first}, "1" : [${second},\t10.00], "{{ ${id} }}" : "\\"{", "a":${first},"a":9007199254740993 , "e":"\\\\" }\n`;
    const escaped = `"\\u007B{ ${number} }}"`;
    expect(await ask(around(`"<{{ ${id} }}>"`, escaped))).toBe(around('"<say \\"hi\\"\\n>"', '{"n":1.5}'));
    const large = (value: string) => `[${'10.00,'.repeat(50_000)}${value}]`;
    expect((await ask(large(`"{{ ${number} }}"`))) === large('{"n":1.5}')).toBe(true);
    expect(await ask(`\u{feff}["{{ ${id} }}",1.0]`)).toBe('["say \\"hi\\"\\n",1.0]');
    const wrong = await send('POST', '/detokenize', { key, body: '{"n":1.0,"a":["{{ }}"]}' });
    expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('a[0]')]);
  });

  test('a body may be a bare string', async () => {
    const key = await createKey({ rules: [reveal] });
    const { body: id } = await send('POST', '/tokenize', { key, body: '"secret"' });
    expect((await send('POST', '/detokenize', { key, body: JSON.stringify(`{{${id}}}`) })).body).toBe('secret');
  });

  test('400 with the path, 403 for a container, 409 for an id, and nothing is stored', async () => {
    const tenantId = await createTenant();
    const key = await createKey({ tenantId, rules: [{ ...reveal, container: '/general/' }] });
    const wrong = await send('POST', '/tokenize', { key, body: { a: ['x', { type: 'nope', data: 1 }] } });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([400, ['a[1].type']]);
    const misspelt = { type: 'token', data: 1, contianers: ['/general/'] };
    const near = await send('POST', '/tokenize', { key, body: { a: ['x', misspelt] } });
    expect([near.status, near.body.errors]).toEqual([
      400,
      { 'a[1].contianers': [expect.stringMatching(/did you mean containers\?/)] },
    ]);
    expect((await send('POST', '/tokenize', { key, body: ['x', card] })).status).toBe(403);
    const twice = [1, 2].map((data) => ({ type: 'token', id: 'twice', data }));
    expect((await send('POST', '/tokenize', { key, body: twice })).status).toBe(409);
    const stored = service.current.db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId);
    expect(await stored.execute()).toEqual([]);
  });

  test('detokenize: 400 for unknown tokens and malformed expressions, 403 naming what is not granted', async () => {
    const tenantId = await createTenant();
    const { body } = await send('POST', '/tokens', { key: await createKey({ tenantId, rules: [reveal] }), body: card });
    const key = await createKey({ tenantId, rules: [{ ...reveal, container: '/bank/' }] });
    expect((await send('POST', '/detokenize', { key, body: ['{{ nope }}'] })).body.detail).toContain('nope');
    expect((await send('POST', '/detokenize', { key, body: ['{{ }}'] })).status).toBe(400);
    const refused = await send('POST', '/detokenize', { key, body: [`{{ ${body.id} }}`] });
    expect([refused.status, refused.body.detail.includes(body.id)]).toEqual([403, true]);
  });
});

test('a row that was tampered with is a bare 500 and an alarm in the log', async () => {
  const { db } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const { id } = (await send('POST', '/tokens', { key, body: card })).body;
  await db
    .updateTable('tokens')
    .set({ data_ciphertext: Buffer.alloc(64, 1), cvc_ciphertext: null, cvc_due_at: null })
    .where('id', '=', id)
    .execute();
  const { status, body } = await send('GET', `/tokens/${id}`, { key });
  expect([status, body.detail]).toEqual([500, 'The request could not be processed']);
  expect(service.current.lines.some((line) => line.includes('VAULT_INTEGRITY'))).toBe(true);
});

test('nothing secret is in the log, and requests are', () => {
  const log = service.current.lines.join('\n');
  expect(log).toContain('"path":"/tokenize"');
  expect(log).not.toMatch(/4242424242424242|hunter2|svc_test_/);
});
