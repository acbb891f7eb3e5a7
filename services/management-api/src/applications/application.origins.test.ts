import { useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack, { FIELDS_HOST: 'fields.localhost:8080' }));
const shop = 'https://shop.example';
const collector = { name: 'Shop', type: 'public', permissions: ['token:create'] };
const post = (part: object) => api.current.send('POST', '/applications', { body: { ...collector, ...part } });
const put = (id: string, part: object) =>
  api.current.send('PUT', `/applications/${id}`, { body: { ...collector, ...part } });
const requestSession = (key: string, origin?: string) =>
  api.current.send('POST', '/sessions', { key, headers: origin === undefined ? {} : { Origin: origin } });
const corsOf = ({ headers }: { headers: Headers }) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));

describe('allowed_origins', () => {
  test('are answered by create, get, list and regenerate, each once', async () => {
    const origins = [shop, 'http://localhost:3000', shop, 'https://[2001:db8::1]:8443'];
    const { status, body } = await post({ allowed_origins: origins });
    const expected = [shop, 'http://localhost:3000', 'https://[2001:db8::1]:8443'];
    expect({ status, origins: body.allowed_origins }).toEqual({ status: 201, origins: expected });
    const { body: got } = await api.current.send('GET', `/applications/${body.id}`);
    expect(got.allowed_origins).toEqual(expected);
    const { body: list } = await api.current.send('GET', `/applications?id=${body.id}`);
    expect(list.data[0].allowed_origins).toEqual(expected);
    const { body: renewed } = await api.current.send('POST', `/applications/${body.id}/regenerate`);
    expect(renewed.allowed_origins).toEqual(expected);
  });

  test('are left out where they are not set, and an empty list is not the same', async () => {
    expect((await post({})).body).not.toHaveProperty('allowed_origins');
    expect((await post({ allowed_origins: null })).body).not.toHaveProperty('allowed_origins');
    expect((await post({ allowed_origins: [] })).body.allowed_origins).toEqual([]);
  });

  test('a PUT that does not name them keeps them, so that older clients lose nothing; null removes them', async () => {
    const { id } = (await post({ allowed_origins: [shop] })).body;
    expect((await put(id, {})).body.allowed_origins).toEqual([shop]);
    expect((await put(id, { allowed_origins: [] })).body.allowed_origins).toEqual([]);
    expect((await put(id, { allowed_origins: null })).body).not.toHaveProperty('allowed_origins');
  });

  test.each([
    'null',
    '*',
    '',
    'shop.example',
    'http://shop.example',
    'http://localhost.example',
    'https://*.shop.example',
    'https://shop.example/',
    'https://shop.example/pay',
    'https://shop.example:443',
    'https://Shop.example',
    'https://user@shop.example',
    'https://shop.example?',
    'https://shop.example#',
    'https://münchen.example',
    'https://under_score.example',
    "https://a;script-src'x'",
    'https://shop.example, https://other.example',
    ' https://shop.example',
    'ftp://shop.example',
    'file://',
    'https://127.1',
  ])('%j is 400 and says where', async (origin) => {
    const { status, body } = await post({ allowed_origins: [shop, origin] });
    expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: ['allowed_origins[1]'] });
  });

  test.each([
    ['http://localhost'],
    ['http://shop.localhost:3000'],
    ['http://127.0.0.1:5173'],
    ['https://127.0.0.1'],
    ['https://xn--mnchen-3ya.example'],
  ])('%s may be named', async (origin) => expect((await post({ allowed_origins: [origin] })).status).toBe(201));

  test('51 are 400, and so are values that are no list of texts', async () => {
    const many = Array.from({ length: 51 }, (_, i) => `https://shop${i}.example`);
    expect((await post({ allowed_origins: many.slice(1) })).status).toBe(201);
    for (const allowed_origins of [many, shop, [5], {}]) expect((await post({ allowed_origins })).status).toBe(400);
  });

  test.each(['private', 'management'])('a %s Application has none: 400', async (type) => {
    const permissions = type === 'private' ? ['token:create'] : ['proxy:read'];
    const { status, body } = await post({ type, permissions, allowed_origins: [] });
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: { allowed_origins: ['is allowed only for public Applications'] },
    });
    const { id } = (await post({ type, permissions })).body;
    expect((await put(id, { permissions, allowed_origins: [shop] })).status).toBe(400);
    expect((await put(id, { permissions, allowed_origins: null })).status).toBe(200);
  });
});

describe('POST /sessions', () => {
  test('answers a page of the list, and refuses any other without CORS headers', async () => {
    const { key } = (await post({ allowed_origins: [shop] })).body;
    const allowed = await requestSession(key, shop);
    expect(allowed.status).toBe(201);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(shop);
    expect(allowed.headers.get('vary')).toBe('Origin');
    for (const origin of ['https://evil.example', 'null', `${shop}:8443`, 'http://shop.example', '']) {
      const refused = await requestSession(key, origin);
      expect({ origin, status: refused.status, cors: corsOf(refused) }).toEqual({ origin, status: 403, cors: [] });
    }
    expect((await api.current.send('GET', '/sessions')).body.data).toHaveLength(1);
  });

  test('takes the fields’ own host always, and programs, which send no Origin', async () => {
    const { key } = (await post({ allowed_origins: [] })).body;
    expect((await requestSession(key, 'http://fields.localhost:8080')).status).toBe(201);
    expect((await requestSession(key, 'https://fields.localhost:8080')).status).toBe(403);
    expect((await requestSession(key)).status).toBe(201);
    expect((await requestSession(key, shop)).status).toBe(403);
  });

  test('a change is in force when its answer goes out', async () => {
    const { id, key } = (await post({})).body;
    expect((await requestSession(key, shop)).headers.get('access-control-allow-origin')).toBe('*');
    await put(id, { allowed_origins: ['https://other.example'] });
    expect((await requestSession(key, shop)).status).toBe(403);
    await put(id, { allowed_origins: null });
    expect((await requestSession(key, shop)).status).toBe(201);
  });

  test('a refused key is answered as without the member', async () => {
    const refused = await requestSession('svc_test_pub_nonsense', 'https://evil.example');
    expect({ status: refused.status, origin: refused.headers.get('access-control-allow-origin') }).toEqual({
      status: 401,
      origin: '*',
    });
  });
});
