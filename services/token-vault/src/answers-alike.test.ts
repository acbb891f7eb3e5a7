// Callers to whom a value is not shown get the same answers for every value: status, all headers, length, text.
import { useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from './testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);

const values: unknown[] = [
  ...['4242424242424242', '5555555555554444', '', 'abc', '-1e3', 'x'.repeat(30_000), 'ü', 'a"b\n', '{{ nobody }}'],
  ...[42, true, null, [], {}, ['4', '2'], { number: '4242424242424242' }, { number: 7, a: [null] }],
];
const failing = "{{ data | to_number | pad_left: 30 | slice: 99, 1 }}{{ data.number | last4 | json: '$.a' }}";

interface Asked {
  method?: string;
  path: string;
  body?: unknown;
  type?: string;
}

interface Seen {
  status: number;
  headers: string[];
  body: string;
}

const asked: Record<string, (id: string) => Asked> = {
  read: (id) => ({ path: `/tokens/${id}` }),
  list: (id) => ({ path: `/tokens?id=${id}` }),
  walk: (id) => ({ path: `/v2/tokens?id=${id}` }),
  search: (id) => ({ path: '/tokens/search', body: { query: `id:${id} AND type:token` } }),
  'search by walk': (id) => ({ path: '/v2/tokens/search', body: { query: `id:${id}` } }),
  detokenize: (id) => ({ path: '/detokenize', body: [`{{ ${id} }}`, `a {{ ${id} | last4 | to_number }}`] }),
  'detokenize beside a fault': (id) => ({ path: '/detokenize', body: [`{{ ${id} | to_boolean }}`, '{{ }}'] }),
  'detokenize beside an unknown token': (id) => ({ path: '/detokenize', body: [`{{ nobody }}{{ ${id} | last4 }}`] }),
  'create under its id': (id) => ({ path: '/tokens', body: { id, data: 'x' } }),
  patch: (id) => ({ method: 'PATCH', path: `/tokens/${id}`, body: {}, type: 'application/merge-patch+json' }),
  'patch of a member': (id) => ({
    ...{ method: 'PATCH', path: `/tokens/${id}`, type: 'application/merge-patch+json' },
    body: { data: { number: '1' } },
  }),
};

function withoutOwn(text: string, id: string): string {
  return text
    .replaceAll(id, '<id>')
    .replace(/"fingerprint":"[\w-]{43}"/g, '"fingerprint":"<fingerprint>"')
    .replace(/change=[\w-]{36}, holders=(\d+), waited_ms=\d+/, 'change=<id>, holders=$1, waited_ms=<time>')
    .replace(/"(created|modified)_at":"[^"]{24}"/g, '"$1_at":"<time>"')
    .replace(/^etag: "[\d-]{10}T[\d:.]{12}Z"$/, 'etag: "<time>"');
}

async function ask(key: string, id: string, { method, path, body, type }: Asked): Promise<Seen> {
  const response = await fetch(service.current.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'SVC-API-KEY': key, 'SVC-TRACE-ID': 'trace', 'Content-Type': type ?? 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const headers = [...response.headers].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`);
  return {
    status: response.status,
    headers: headers.map((line) => withoutOwn(line, id)),
    body: withoutOwn(await response.text(), id),
  };
}

type Plant = (seen: Seen, value: unknown) => Seen;

async function differing(
  key: string,
  tokens: readonly string[],
  make: (id: string) => Asked,
  plant: Plant = (seen) => seen,
) {
  const seen = new Set<string>();
  for (const [at, id] of tokens.entries()) seen.add(JSON.stringify(plant(await ask(key, id, make(id)), values[at])));
  return [...seen];
}

async function createScene(grants: { permissions?: string[]; transform?: 'redact' | 'mask' }, members: object) {
  const { createApplication, send } = service.current;
  const owner = await createApplication({ rules: [reveal] });
  const { tenantId } = owner;
  const rules = grants.transform ? [{ ...reveal, transform: grants.transform }] : [];
  const { key } = await createApplication({ tenantId, rules, permissions: grants.permissions ?? [] });
  const tokens: string[] = [];
  for (const [at, data] of values.entries()) {
    const id = `token-${String(at).padStart(4, '0')}`;
    const { status } = await send('POST', '/tokens', {
      key: owner.key,
      body: { ...members, id, data: data ?? [null] },
    });
    expect(status).toBe(201);
    tokens.push(id);
  }
  return { key, tokens };
}

const plain = { metadata: { a: 'b' } };
const withAll = { ...plain, search_indexes: [failing], fingerprint_expression: `${failing}x` };

test.each<[string, Parameters<typeof createScene>[0], object]>([
  ['to whom it is redacted', { transform: 'redact' }, withAll],
  ['who sees a mask that comes to nothing', { transform: 'mask' }, { ...withAll, mask: failing }],
  ['who sees a mask of its own text', { transform: 'mask' }, { ...withAll, mask: { hidden: 'x' } }],
  ['who may only change it', { permissions: ['token:update'] }, withAll],
  ['who may only create', { permissions: ['token:create'] }, plain],
  ['who may do nothing with it', { permissions: ['token:search'] }, plain],
])('a caller %s', async (_, grants, members) => {
  const { key, tokens } = await createScene(grants, members);
  for (const [name, make] of Object.entries(asked)) {
    const seen = await differing(key, tokens, make);
    expect([name, seen]).toEqual([name, [seen[0]]]);
  }
});

describe('the control: what an answer says of a value is seen, wherever it stands', () => {
  const isCard = (value: unknown) => value === '4242424242424242';
  test.each<[string, Plant]>([
    ['in the status', (seen, value) => ({ ...seen, status: isCard(value) ? 404 : seen.status })],
    ['in a title', (seen, value) => ({ ...seen, body: seen.body.replace('Bad', isCard(value) ? 'bad' : 'Bad') })],
    ['in the length', (seen, value) => ({ ...seen, body: seen.body + (isCard(value) ? ' ' : '') })],
    ['in a header', (seen, value) => ({ ...seen, headers: isCard(value) ? seen.headers.slice(1) : seen.headers })],
  ])('%s', async (_, plant) => {
    const { key, tokens } = await createScene({ transform: 'redact' }, plain);
    const make = asked['detokenize beside a fault'] as (id: string) => Asked;
    expect(await differing(key, tokens, make)).toHaveLength(1);
    expect(await differing(key, tokens, make, plant)).toHaveLength(2);
  });

  test('in what a mask shows of it', async () => {
    const { key, tokens } = await createScene({ transform: 'mask' }, { mask: '{{ data | last4 | to_number }}' });
    expect((await differing(key, tokens, asked.read as (id: string) => Asked)).length).toBeGreaterThan(1);
  });

  test('in which of several errors is told', async () => {
    const { key, tokens } = await createScene({ transform: 'redact' }, plain);
    const hinted = (id: string) => ({ path: '/detokenize', body: [id === tokens[0] ? '{{ }}' : '{{ nobody }}'] });
    expect(await differing(key, tokens, hinted)).toHaveLength(2);
  });
});
