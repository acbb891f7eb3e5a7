import { useStack } from '@sluice/testing';
import { shareTestManagement, startTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const token = '0b8f5a0e-6f63-4a1f-9d3c-1a2b3c4d5e6f';
const minimal = { name: 'P', destination_url: 'https://example.com', configuration: { KEY: 'k', 'a.b-c_1': 'x' } };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

const post = (part: object) => api.current.send('POST', '/proxies', { body: { ...minimal, ...part } });
const get = async (id: string) => (await api.current.send('GET', `/proxies/${id}`)).body;
const put = (id: string, body: object) => api.current.send('PUT', `/proxies/${id}`, { body });
const patch = (id: string, body: object) => api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });

type Faulty = [path: string, fault: string, part: object];

const placed = (place: unknown, fault: string): Faulty => ['token_places[0]', fault, { token_places: [place] }];
const ofTheGateway = 'which the gateway sets or removes';

const faultyPlaces: Faulty[] = [
  ['token_places', 'must be', { token_places: 'body' }],
  ['token_places', 'may have at most 20 items', { token_places: Array(21).fill('body') }],
  placed(5, 'must be a string'),
  placed('', 'must be body, query, path or header:<name>, for example header:x-api-key'),
  placed('Body', 'must be body, query, path or header:<name>, for example header:x-api-key'),
  placed('header', 'must be body, query, path or header:<name>, for example header:x-api-key'),
  placed('header:', 'must be a name of a header'),
  placed('header:a b', 'must be a name of a header'),
  placed('header:ü', 'must be a name of a header'),
  placed('header:SVC-API-KEY', 'must not name a header of Sluice'),
  placed('header:svc-anything', 'must not name a header of Sluice'),
  ...['Host', 'Content-Length', 'transfer-encoding', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Upgrade'].map(
    (name) => placed(`header:${name}`, ofTheGateway),
  ),
  ...['CDN-Loop', 'Range', 'Accept-Encoding', 'Expect', 'Proxy-Connection'].map((name) =>
    placed(`header:${name}`, ofTheGateway),
  ),
];

const header = (name: string, fault: string, text: unknown = 'x'): Faulty => [
  `request_headers.${name}`,
  fault,
  { request_headers: { [name]: text } },
];
const text = (value: unknown, fault: string) => header('X-A', fault, value);

const faultyHeaders: Faulty[] = [
  ['request_headers', 'must be', { request_headers: 'x' }],
  text(5, 'must be a string'),
  ['request_headers', 'must have names of headers', { request_headers: { '': 'x' } }],
  ['request_headers', 'must have names of headers', { request_headers: { 'a b': 'x' } }],
  header('SVC-API-KEY', 'must not name a header of Sluice'),
  ...['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Upgrade'].map(
    (name) => header(name, ofTheGateway),
  ),
  ...['CDN-Loop', 'Range', 'accept-encoding', 'Expect', 'Proxy-Authorization'].map((name) =>
    header(name, ofTheGateway),
  ),
  ...['If-Range', 'Content-Encoding', 'content-type'].map((name) => header(name, 'must not be set')),
  ...['Proxy-Status', 'proxy-anything'].map((name) => header(name, 'must not be a header for proxies')),
  text('{{ config: OTHER }}', 'names OTHER at character 0, but the configuration has no such name'),
  text('Bearer {{ config:toString }}', 'names toString at character 7'),
  text('{{ config: }}', 'the expression at character 0 is not valid: the name after config: must consist of'),
  text('{{ config: a b }}', 'the expression at character 0 is not valid: the name after config: must consist of'),
  text('Bearer {{', 'the expression at character 7 is not valid: it is not closed with }}'),
  text('{{ }}', 'the expression at character 0 is not valid: it is empty'),
  text(`{{ ${token} | nothing }}`, 'the expression at character 0 is not valid: there is no filter nothing'),
  text(`{{ config: KEY | }}`, 'the expression at character 0 is not valid'),
  text('{{ ab }}', 'must have a token id, or "config:" followed by a name, at character 0'),
  text('ä', 'must have printable ASCII characters only'),
  text('a\r\nX-B: b', 'must have printable ASCII characters only'),
  text("{{ '\\n' }}", 'must have printable ASCII characters only'),
  text(' a', 'must not begin or end with a blank'),
  text(`{{ ${token} }} `, 'must not begin or end with a blank'),
  ['request_headers.x-a', 'the same header as another', { request_headers: { 'X-A': '1', 'x-a': '2' } }],
  [
    'request_headers',
    'may have at most 100 headers',
    { request_headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`X-${i}`, ''])) },
  ],
  ['request_headers', 'may have at most 16384 bytes in total', { request_headers: { 'X-A': 'x'.repeat(16_378) } }],
  ['request_headers.X-A', 'must not be [hidden]', { request_headers: { 'X-A': '[hidden]' } }],
];

const faultyTimes: Faulty[] = [0, 601, 1.5, '5'].map((head_timeout_s) => [
  'head_timeout_s',
  'must',
  { head_timeout_s },
]);

describe.each([...faultyPlaces, ...faultyHeaders, ...faultyTimes])('400 for %s: %s (%.60j)', (path, fault, part) => {
  test('in create, PUT and PATCH; nothing changes', async () => {
    const made = await api.current.proxy(minimal);
    for (const answer of [await post(part), await put(made.id, { ...minimal, ...part }), await patch(made.id, part)]) {
      const { status, body } = answer;
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: { [path]: [expect.stringContaining(fault)] },
      });
    }
    expect(await get(made.id)).toEqual(made);
  });
});

test.each<[string, object]>([
  ['every place', { token_places: ['body', 'query', 'path', 'header:X-Card', 'header:authorization'] }],
  ['no place', { token_places: [] }],
  ['twenty places', { token_places: Array.from({ length: 20 }, (_, i) => `header:x-${i}`) }],
  ['a header without text', { request_headers: { 'X-A': '' } }],
  ['no header', { request_headers: {} }],
  ['filters', { request_headers: { Authorization: `Basic {{ ${token} | prepend: 'x-access-token:' | upcase }}` } }],
  ['every form of a name', { request_headers: { 'X-A': '{{config:KEY}}{{ config:  a.b-c_1 | last4 }}' } }],
  ['braces', { request_headers: { 'X-A': "{{ '{{' }}" } }],
  [
    'a hundred headers',
    { request_headers: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`X-${i}`, 'x'])) },
  ],
  ['16 KiB', { request_headers: { 'X-A': 'x'.repeat(16_377) } }],
  ['the longest time', { head_timeout_s: 600 }],
])('%s is stored and answered as it was sent, and in a list', async (_name, part) => {
  const { status, body } = await post(part);
  expect({ status, body }).toMatchObject({ status: 201, body: part });
  expect((await api.current.send('GET', `/proxies?id=${body.id}`)).body.data).toEqual([body]);
});

test('with another HEADER_PREFIX those headers are ours', async () => {
  await using stack = new AsyncDisposableStack();
  const { send, tenant } = await startTestManagement(stack, { HEADER_PREFIX: 'ACME' });
  const body = { ...minimal, token_places: ['header:ACME-X', 'header:SVC-X'], request_headers: { 'acme-y': 'x' } };
  const { status, body: problem } = await send('POST', '/proxies', {
    body,
    headers: { 'ACME-API-KEY': tenant.management_key },
  });
  expect([status, Object.keys(problem.errors)]).toEqual([400, ['token_places[0]', 'request_headers.acme-y']]);
});

describe('a patch of request_headers', () => {
  test('merges header by header without case, and its spelling stays', async () => {
    const { id } = await api.current.proxy({ request_headers: { Keep: '1', 'X-Change': '2', 'X-Drop': '3' } });
    expect((await patch(id, { request_headers: { 'x-change': 'two', 'x-drop': null, Add: '4' } })).status).toBe(204);
    expect((await get(id)).request_headers).toEqual({ Keep: '1', 'x-change': 'two', Add: '4' });
    expect((await patch(id, { request_headers: null })).status).toBe(204);
    expect(await get(id)).not.toHaveProperty('request_headers');
  });

  test.each([
    { A: '1', a: '2' },
    { A: null, a: '2' },
  ])('with two spellings of one name is 400: %j', async (request_headers) => {
    const made = await api.current.proxy({ request_headers: { A: '0' } });
    const { status, body } = await patch(made.id, { request_headers });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['request_headers.a']]);
    expect(await get(made.id)).toEqual(made);
  });
});

test('a name of the configuration that a header needs is not taken away', async () => {
  const { id } = await api.current.proxy({ ...minimal, request_headers: { 'X-A': '{{ config: KEY }}' } });
  for (const answer of [
    await patch(id, { configuration: { KEY: null } }),
    await put(id, { ...minimal, configuration: {} }),
  ]) {
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['request_headers.X-A']]);
  }
  expect((await patch(id, { configuration: null, request_headers: null })).status).toBe(204);
});

test('request_headers are stored encrypted', async () => {
  const { db, proxy } = api.current;
  const { id } = await proxy({ request_headers: { 'X-Hide': 'value-to-hide' } });
  const row = await db.selectFrom('proxies').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  expect(row.request_headers_ciphertext?.length).toBeGreaterThan(20);
  expect(row.request_headers_ciphertext?.toString('latin1')).not.toMatch(/hide/i);
});
