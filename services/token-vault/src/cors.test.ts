import { type CallOptions, call, useStack } from '@sluice/testing';
import { everything, startTestTokenVault } from './testing/test-token-vault.ts';

const page = 'https://shop.example';
const evil = 'https://evil.example';
const fields = 'http://fields.localhost:8080';

const services = useStack(async (stack) => ({
  open: await startTestTokenVault(stack, undefined, { FIELDS_HOST: 'fields.localhost:8080' }),
  listed: await startTestTokenVault(stack, undefined, { CORS_ORIGINS: `https://other.example, ${page}` }),
}));

function preflight(url: string, path: string, origin = page) {
  const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
  return call(url, 'OPTIONS', path, { headers });
}

const corsOf = ({ headers }: { headers: Headers }) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));

test.each(['/tokens', '/tokenize'])(
  'any page may ask for POST %s, because a preflight carries no key',
  async (path) => {
    for (const { url } of [services.current.open, services.current.listed]) {
      const asked = await preflight(url, path, evil);
      expect(asked.status).toBe(204);
      expect(asked.headers.get('access-control-allow-origin')).toBe('*');
      expect(asked.headers.get('access-control-allow-methods')).toBe('POST');
      expect(asked.headers.get('access-control-allow-headers')).toContain('SVC-API-KEY');
    }
    const answer = await call(services.current.open.url, 'POST', path, { body: {}, headers: { Origin: page } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  },
);

test('without allowed_origins only pages of the setting may read an answer, where it is a list', async () => {
  const { listed } = services.current;
  const key = await listed.createKey({ type: 'public', permissions: ['token:create'] });
  const create = (origin: string) =>
    listed.send('POST', '/tokens', { key, body: { data: 'x' }, headers: { Origin: origin } });
  const mine = await create(page);
  expect(mine.headers.get('access-control-allow-origin')).toBe(page);
  expect(mine.headers.get('vary')).toBe('Origin');
  const others = await create(evil);
  expect({ status: others.status, cors: corsOf(others) }).toEqual({ status: 201, cors: [] });
});

test('everything else is closed: reading, detokenizing, other methods of the same path', async () => {
  const { open } = services.current;
  for (const [method, path] of [
    ['POST', '/detokenize'],
    ['GET', '/tokens/abc'],
    ['PATCH', '/tokens/abc'],
    ['OPTIONS', '/tokens/abc'],
    ['GET', '/tokens'],
  ] as const) {
    const answer = await open.send(method, path, { headers: { Origin: page } });
    expect({ method, path, cors: corsOf(answer) }).toEqual({ method, path, cors: [] });
  }
});

describe('with allowed_origins', () => {
  const count = async () => {
    const { db } = services.current.open;
    const { total } = await db
      .selectFrom('tokens')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  };

  test('their pages create tokens and read the answer; the setting no longer counts', async () => {
    const { listed } = services.current;
    const key = await listed.createKey({ type: 'public', permissions: ['token:create'], allowedOrigins: [evil] });
    for (const [path, body] of [
      ['/tokens', { data: 'x' }],
      ['/tokenize', { a: 'x' }],
    ] as const) {
      const answer = await listed.send('POST', path, { key, body, headers: { Origin: evil } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(evil);
      expect((await listed.send('POST', path, { key, body, headers: { Origin: page } })).status).toBe(403);
    }
  });

  test('any other page is 403 before all else, without CORS headers, and creates nothing', async () => {
    const { open } = services.current;
    const key = await open.createKey({ type: 'public', permissions: ['token:create'], allowedOrigins: [page] });
    const before = await count();
    const asks: [string, string, CallOptions][] = [
      ['POST', '/tokens', { body: { data: 'x' } }],
      ['POST', '/tokenize', { body: { a: 'x' } }],
      ['POST', '/tokens', { body: 'not json', headers: { 'Content-Type': 'text/plain' } }],
      ['POST', '/detokenize', { body: {} }],
      ['GET', '/tokens/abc', {}],
    ];
    for (const [method, path, options] of asks) {
      for (const origin of [evil, 'null', '', `${page}, ${evil}`]) {
        const headers = { ...options.headers, Origin: origin };
        const { status, body, ...answer } = await open.send(method, path, { ...options, key, headers });
        expect({ method, path, origin, status, cors: corsOf(answer) }).toMatchObject({ status: 403, cors: [] });
        expect(body.detail).toContain('allowed_origins');
      }
    }
    expect(await count()).toBe(before);
  });

  test('programs, which send no Origin, and the fields’ own host are always taken', async () => {
    const { open } = services.current;
    const key = await open.createKey({ type: 'public', permissions: ['token:create'], allowedOrigins: [] });
    const create = (headers: Record<string, string>) =>
      open.send('POST', '/tokens', { key, body: { data: 'x' }, headers });
    expect((await create({})).status).toBe(201);
    expect((await create({ Origin: fields })).status).toBe(201);
    expect((await create({ Origin: page })).status).toBe(403);
  });

  test('a session counts as the public Application that made it', async () => {
    const { open } = services.current;
    const authorizer = await open.createApplication({ permissions: everything });
    const grants = { permissions: ['token:create'], rules: [] };
    const { key } = await open.createSession(authorizer, { ...grants, allowedOrigins: [page] });
    const create = (origin: string) =>
      open.send('POST', '/tokens', { key, body: { data: 'x' }, headers: { Origin: origin } });
    expect((await create(page)).headers.get('access-control-allow-origin')).toBe(page);
    expect((await create(evil)).status).toBe(403);
    const { key: free } = await open.createSession(authorizer, grants);
    expect(
      (await open.send('POST', '/tokens', { key: free, body: { data: 'x' }, headers: { Origin: evil } })).status,
    ).toBe(201);
  });
});
