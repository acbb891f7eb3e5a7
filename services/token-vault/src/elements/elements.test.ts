import { randomUUID } from 'node:crypto';
import { cp, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type CallOptions, callByHost, openTemporaryFolder, useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';
import { readReleasedFiles } from './released-files.ts';

const host = 'fields.localhost:8080';
const shop = 'https://shop.example';
const vault = useStack((stack) => startTestTokenVault(stack, undefined, { FIELDS_HOST: host }));

const ask = (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
  callByHost(vault.current.url, method, path, { ...options, headers: { Host: host, ...headers } });
const corsOf = ({ headers }: { headers: Headers }) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));
const createCollector = (tenantId?: string) =>
  vault.current.createApplication({
    type: 'public',
    permissions: ['token:create', 'token:update'],
    allowedOrigins: [shop],
    ...(tenantId !== undefined && { tenantId }),
  });

describe('the page of a frame', () => {
  const pageOf = (application: string) => ask('GET', `/elements/field?application=${application}`);
  const ancestorsOf = async (application: string) =>
    /frame-ancestors ([^;]*)/.exec((await pageOf(application)).headers.get('content-security-policy') ?? '')?.[1];

  test('may be embedded by the origins of its Application only', async () => {
    const two = [shop, 'http://localhost:3000'];
    const { id } = await vault.current.createApplication({ type: 'public', allowedOrigins: two });
    expect(await ancestorsOf(id)).toBe(two.join(' '));
    expect(await ancestorsOf(id.toUpperCase())).toBe(two.join(' '));
  });

  test('is no different for what nobody may embed, so that it does not tell which Applications exist', async () => {
    const { createApplication, db } = vault.current;
    const known = await createCollector();
    const closed = await createCollector();
    await db
      .updateTable('tenants')
      .set({ closed_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', closed.tenantId)
      .execute();
    const expired = await createCollector();
    await db
      .updateTable('applications')
      .set({ expires_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', expired.id)
      .execute();
    const none = [
      (await createApplication({ type: 'public' })).id,
      (await createApplication({ type: 'public', allowedOrigins: [] })).id,
      (await createApplication({ type: 'private' })).id,
      expired.id,
      closed.id,
      randomUUID(),
      'nonsense',
      '',
      `${known.id}%00`,
      `${known.id}%20`,
    ];
    const { headers, body } = await pageOf(known.id);
    const allowed = headers.get('content-security-policy') ?? '';
    const ownToAnswer = new Set(['date', 'svc-trace-id']);
    const comparable = (all: Headers) => [...all].filter(([name]) => !ownToAnswer.has(name));
    for (const id of none) {
      const page = await pageOf(id);
      expect({ id, status: page.status, body: page.body }).toEqual({ id, status: 200, body });
      const expected = new Headers(headers);
      expected.set('content-security-policy', allowed.replace(`frame-ancestors ${shop}`, "frame-ancestors 'none'"));
      expect(comparable(page.headers)).toEqual(comparable(expected));
    }
  });

  test('is not kept by anybody, and runs nothing but our own files, by a strict policy', async () => {
    const { headers, body } = await pageOf((await createCollector()).id);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((one) => one.split(/ (.*)/s).slice(0, 2)),
    );
    expect(policy).toEqual({
      'default-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': shop,
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
    });
    expect(corsOf({ headers })).toEqual([]);
    expect(body).toContain('data-header-prefix="SVC"');
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|\bstyle=|<style|\bon\w+=/);
  });

  test('names files that are there', async () => {
    const { body } = await pageOf(randomUUID());
    const files = [...String(body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(files).toHaveLength(2);
    for (const path of files) expect((await ask('GET', path)).status).toBe(200);
  });

  test.each(['POST', 'HEAD', 'PUT', 'OPTIONS'])('by %s is 405', async (method) => {
    expect((await ask(method, '/elements/field')).status).toBe(405);
  });
});

describe('a released file', () => {
  test('is immutable, for pages of any origin, and as it was released', async () => {
    const { newest } = readReleasedFiles();
    const { status, headers } = await ask('GET', `/elements/${newest}/elements.js`, { headers: { Origin: shop } });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  test.each([
    '/elements/elements.js',
    '/elements/latest/elements.js',
    '/elements/0/elements.js',
    '/elements/integrity.json',
    '/elements/0.1.0/',
    '/elements/0.1.0/../integrity.json',
    '/elements/0.1.0/%2e%2e/integrity.json',
    '/elements/0.1.0/field%2Fcards.js',
  ])('%s is 404: only what is listed is there, at its exact version', async (path) => {
    const { status, headers } = await ask('GET', path);
    expect([status, headers.get('link')]).toEqual([404, null]);
  });

  test('that is not as it was released keeps the service from starting', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await openTemporaryFolder(stack, 'released');
    const copy = new URL(`${pathToFileURL(folder)}/`);
    await cp(new URL('../../../../packages/elements/released/', import.meta.url), copy, { recursive: true });
    expect(readReleasedFiles(copy).newest).toBe(readReleasedFiles().newest);
    await writeFile(new URL(`${readReleasedFiles().newest}/field.js`, copy), 'other');
    expect(() => readReleasedFiles(copy)).toThrow('field.js of the hosted fields is not as it was released');
  });
});

test('what frames ask for is there at the host of the fields, and at no other', async () => {
  const { url } = vault.current;
  for (const Host of ['127.0.0.1', 'console.localhost', 'shop.localhost']) {
    for (const path of ['/elements/field', '/elements/0.1.0/field.js']) {
      expect((await callByHost(url, 'GET', path, { headers: { Host } })).status).toBe(404);
    }
  }
  for (const path of ['/openapi.json', '/detokenize', '/v2/tokens/search']) {
    expect((await ask('GET', path)).status).toBe(404);
  }
});

describe('a frame', () => {
  const frameOf = (application: string, more = {}) => ({
    headers: {
      Origin: `http://${host}`,
      'Sec-Fetch-Site': 'same-origin',
      'SVC-FIELDS-APPLICATION': application,
      ...more,
    },
  });

  test.each([
    ['/tokens', { data: 'x' }, 201],
    ['/tokenize', { a: 'x' }, 200],
  ])('makes tokens by POST %s, without CORS', async (path, body, status) => {
    const { id, key } = await createCollector();
    const answer = await ask('POST', path, { key, body, ...frameOf(id) });
    expect({ status: answer.status, cors: corsOf(answer) }).toEqual({ status, cors: [] });
  });

  test('that shows fields of one Application is refused the key of another, and one that says none every key', async () => {
    const mine = await createCollector();
    const advertiser = await createCollector();
    const create = (key: string, headers: object) => ask('POST', '/tokens', { key, body: { data: 'x' }, ...headers });
    expect((await create(advertiser.key, frameOf(mine.id))).status).toBe(403);
    expect((await create(mine.key, { headers: { Origin: `http://${host}` } })).status).toBe(403);
    expect((await create(mine.key, frameOf(mine.id))).status).toBe(201);
    const session = await sessionOf(await tokenOf());
    expect((await ask('GET', `/tokens/${session.token}`, { key: session.key, ...frameOf(mine.id) })).status).toBe(403);
  });

  test('is refused, but for its own origin and those of the Application, by whatever page', async () => {
    const { id, key } = await createCollector();
    const headers = frameOf(id, { Origin: 'https://evil.example' });
    const answer = await ask('POST', '/tokens', { key, body: { data: 'x' }, ...headers });
    expect({ status: answer.status, cors: corsOf(answer) }).toEqual({ status: 403, cors: [] });
  });

  const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };

  async function tokenOf(body: object = card) {
    const authorizer = await vault.current.createApplication({ rules: [reveal] });
    const { body: token } = await vault.current.send('POST', '/tokens', { key: authorizer.key, body });
    return { authorizer, token: String(token.id) };
  }

  async function sessionOf({ authorizer, token }: Awaited<ReturnType<typeof tokenOf>>) {
    const rules = [
      {
        priority: 1,
        conditions: [{ attribute: 'id' as const, operator: 'equals' as const, value: token }],
        transform: 'reveal' as const,
        permissions: ['token:read', 'token:update'],
      },
    ];
    const session = await vault.current.createSession(authorizer, { rules, allowedOrigins: [shop] });
    const { application_id: madeBy } = await vault.current.db
      .selectFrom('sessions')
      .select('application_id')
      .where('id', '=', session.id)
      .executeTakeFirstOrThrow();
    return { ...session, madeBy, token };
  }

  test('reads and changes the one token that its session is for, without CORS', async () => {
    const { madeBy, key, token } = await sessionOf(await tokenOf());
    const read = await ask('GET', `/tokens/${token}`, { key, ...frameOf(madeBy) });
    expect({ status: read.status, data: read.body.data, cors: corsOf(read) }).toEqual({
      status: 200,
      data: card.data,
      cors: [],
    });
    expect(read.headers.get('cache-control')).toBe('no-store');
    const patch = frameOf(madeBy, { 'Content-Type': 'application/merge-patch+json' });
    const changed = await ask('PATCH', `/tokens/${token}`, { key, body: { data: { cvc: '321' } }, ...patch });
    expect({ status: changed.status, cors: corsOf(changed) }).toEqual({ status: 200, cors: [] });
    const { token: other } = await tokenOf();
    expect((await ask('GET', `/tokens/${other}`, { key, ...frameOf(madeBy) })).status).toBe(404);
  });

  test.each(['GET', 'PATCH'])(
    'is refused with an API key to %s a token, whatever that may do elsewhere',
    async (method) => {
      const { authorizer, token } = await tokenOf();
      const options = method === 'PATCH' ? { body: { metadata: {} } } : {};
      const type = { 'Content-Type': 'application/merge-patch+json' };
      const here = await ask(method, `/tokens/${token}`, {
        ...options,
        key: authorizer.key,
        ...frameOf(authorizer.id, type),
      });
      expect(here.status).toBe(403);
      const elsewhere = await vault.current.send(method, `/tokens/${token}`, {
        ...options,
        key: authorizer.key,
        headers: type,
      });
      expect(elsewhere.status).toBe(200);
      const publicKey = await createCollector(authorizer.tenantId);
      expect(
        (await ask(method, `/tokens/${token}`, { ...options, key: publicKey.key, ...frameOf(publicKey.id, type) }))
          .status,
      ).toBe(403);
    },
  );

  test.each<[string, object, object]>([
    ['a security code into a text', { data: { name: 'Ada' } }, { cvc: '123' }],
    ['one beside what it may have', { data: { name: 'Ada' } }, { name: 'Bob', cvc: '123' }],
    ['a number', { data: { name: 'Ada' } }, { number: '4242424242424242' }],
    ['an expiry', { data: {} }, { expiration_month: 12, expiration_year: 2030 }],
    ['a code in place of a text', { data: 'Ada' }, { cvc: '123' }],
    ['a code into a number', { type: 'card_number', data: '4242424242424242' }, { cvc: '123' }],
  ])('puts no part of a card into a token that is none, whatever the page orders: %s', async (_, body, data) => {
    const { madeBy, key, token } = await sessionOf(await tokenOf(body));
    const merge = { key, body: { data }, headers: { 'Content-Type': 'application/merge-patch+json' } };
    const { status, body: problem } = await ask('PATCH', `/tokens/${token}`, {
      ...merge,
      ...frameOf(madeBy, merge.headers),
    });
    expect({ status, detail: problem.detail }).toEqual({
      status: 403,
      detail: expect.stringMatching(/^data\.\w+: .*card/),
    });
    expect((await ask('PATCH', '/tokens/none', { ...merge, ...frameOf(madeBy, merge.headers) })).status).toBe(404);
  });

  test.each<object>([
    { fingerprint_expression: '{{ data.cvc }}' },
    { fingerprint_expression: '{{ data }}' },
    { search_indexes: ['{{ data.number }}', '{{ data.cvc | last4 }}'] },
  ])('puts no security code where its page could guess it, whatever its session may do: %j', async (members) => {
    const { madeBy, key, token } = await sessionOf(await tokenOf({ ...card, ...members }));
    const merge = { key, body: { data: { cvc: '321' } }, headers: { 'Content-Type': 'application/merge-patch+json' } };
    const here = { ...merge, ...frameOf(madeBy, merge.headers) };
    const { status, body: problem } = await ask('PATCH', `/tokens/${token}`, here);
    expect([status, problem.detail]).toEqual([
      403,
      expect.stringMatching(/^data\.cvc: on this host the security code cannot be changed/),
    ]);
    const other = { ...here, body: { data: { expiration_month: 3 } } };
    expect((await ask('PATCH', `/tokens/${token}`, other)).status).toBe(200);
    expect((await vault.current.send('PATCH', `/tokens/${token}`, merge)).status).toBe(200);
  });

  test.each<[string, object]>([
    ['/tokens', { data: { cvc: '123' } }],
    ['/tokens', { type: 'token', data: { number: '4242424242424242', cvc: '123' } }],
    ['/tokenize', [{ a: { type: 'token', data: { cvc: '123' } } }]],
  ])('puts no security code into a token that is no card, by POST %s of %j', async (path, body) => {
    const { id, key } = await createCollector();
    expect((await ask('POST', path, { key, body, ...frameOf(id) })).status).toBe(403);
    const asCard = path === '/tokens' ? card : [{ a: card }];
    expect((await ask('POST', path, { key, body: asCard, ...frameOf(id) })).status).toBeLessThan(300);
    expect((await vault.current.send('POST', path, { key, body, headers: { Origin: shop } })).status).toBeLessThan(300);
  });

  test.each(['/tokens', '/tokenize', `/tokens/${randomUUID()}`])('gets no preflight answered for %s', async (path) => {
    const answer = await ask('OPTIONS', path, { headers: { Origin: shop, 'Access-Control-Request-Method': 'POST' } });
    expect({ status: answer.status, cors: corsOf(answer) }).toEqual({ status: 405, cors: [] });
  });

  test('without a valid key is 401, whatever else it sends', async () => {
    expect((await ask('POST', '/tokens', { key: 'nonsense', body: { data: 'x' } })).status).toBe(401);
  });
});
