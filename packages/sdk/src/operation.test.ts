import { readFile } from 'node:fs/promises';
import { operations } from './generated/operations.gen.ts';
import { JsonText, Sluice } from './index.ts';
import { List } from './list.ts';
import { apiKey, type Seen, startScripted } from './testing/scripted-server.ts';

/** Checked by the compiler: each operationId of the document has a method on the client. */
type Operations = typeof operations;

type At<T, Name> = Name extends `${infer Head}.${infer Rest}`
  ? At<Head extends keyof T ? T[Head] : undefined, Rest>
  : Name extends keyof T
    ? T[Name]
    : undefined;

type IsMethod<T> = T extends (...args: never[]) => unknown ? true : false;

type Methods<Client> = { [Id in keyof Operations]: IsMethod<At<Client, Operations[Id]['name']>> };

type EachIs<Expected, Found> = Found extends Record<keyof Found, Expected> ? true : false;

true satisfies EachIs<true, Methods<Sluice>>;

// Controls: a client that lacks a method fails, and so does one whose resource is no method.
false satisfies EachIs<true, Methods<Omit<Sluice, 'tokenize'>>>;
false satisfies EachIs<true, Methods<Omit<Sluice, 'proxies'> & { proxies: Omit<Sluice['proxies'], 'patch'> }>>;
false satisfies EachIs<true, Methods<Omit<Sluice, 'detokenize'> & { detokenize: string }>>;

type Method = (...args: unknown[]) => Promise<unknown> | List<unknown>;

const document = JSON.parse(
  await readFile(new URL('../../../services/management-api/public/openapi.json', import.meta.url), 'utf8'),
);
type Described = { operationId: string; parameters: { $ref?: string }[]; requestBody?: { content: object } };
const described = Object.entries<Record<string, Described & Record<string, unknown>>>(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !['proxy', undefined].includes(operation['x-sluice-method'] as string | undefined))
      .map(([method, operation]) => [operation.operationId, method.toUpperCase(), path, operation] as const),
);

test('the table has each operation of the document that has a method, and no other but their event streams', () => {
  const ids = Object.entries(operations).flatMap(([id, { answer }]) => (answer === 'events' ? [] : [id]));
  expect(ids.sort()).toEqual(described.map(([id]) => id).sort());
});

test.each(described)('%s is sent as the document says', async (id, method, path, { parameters, requestBody }) => {
  await using stack = new AsyncDisposableStack();
  const { seen, baseUrl, sluice } = await startScripted(stack, [{ status: 200, body: { id: 'x' } }]);
  const { name } = operations[id as keyof typeof operations];
  const isOfConsole = path.startsWith('/api/');
  const client: unknown = isOfConsole ? new Sluice({ console: true, baseUrl }) : sluice;
  const call = name.split('.').reduce((at, word) => (at as Record<string, unknown>)[word], client) as Method;
  const params = (path.match(/\{/g) ?? []).map((_, index) => `id/${index}`);
  const answer = call(...params, ...(requestBody ? [{ some: 'body' }] : []));
  await (answer instanceof List ? answer.page() : answer);
  expect(seen).toHaveLength(1);
  const [{ headers, ...request }] = seen as [Seen];
  let index = 0;
  expect(request).toEqual({
    method,
    url: path.replace(/\{\w+\}/g, () => `id%2F${index++}`),
    body: requestBody ? '{"some":"body"}' : '',
  });
  expect([headers['svc-api-key'], headers['svc-console']]).toEqual(
    isOfConsole ? [undefined, '1'] : [apiKey, undefined],
  );
  if (requestBody) expect(Object.keys(requestBody.content)).toEqual([headers['content-type']]);
  const takesKey = parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey'));
  expect(typeof headers['svc-idempotency-key']).toBe(takesKey ? 'string' : 'undefined');
});

test('query parameters go as the API reads them, with options after them', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [{ status: 200, body: [] }]);
  await sluice.tokens
    .list({ id: ['a', 'b,c'], type: [], size: 5, 'metadata.a b': 'x&y' }, { traceId: 'trace-1' })
    .page(2);
  expect(seen[0]?.url).toBe('/tokens?id=a&id=b%2Cc&size=5&metadata.a+b=x%26y&page=2');
  expect(seen[0]?.headers['svc-trace-id']).toBe('trace-1');
});

test('ifMatch is sent in quotes; where no operation takes it, and for no time, nothing is sent', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [{ status: 204 }]);
  const ifMatch = '2026-01-01T00:00:00.000Z';
  await sluice.proxies.delete('p', { ifMatch });
  expect(seen.map(({ headers }) => headers['if-match'])).toEqual([`"${ifMatch}"`]);
  const options: object = { ifMatch };
  await expect(sluice.proxies.get('p', options)).rejects.toThrow(new TypeError('proxies.get takes no ifMatch'));
  await expect(sluice.proxies.delete('p', { ifMatch: '"quoted"' })).rejects.toThrow(/^ifMatch must be the modified_at/);
  expect(seen).toHaveLength(1);
});

test.each(['', '.', '..', undefined, 7])('an id that would make another path is refused: %p', async (id) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [{ status: 204 }]);
  await expect(sluice.tokens.delete(id as string)).rejects.toThrow(new TypeError('id must be an id'));
  expect(seen).toEqual([]);
});

test('headers begin with the prefix that is configured, and the path of the base URL stays', async () => {
  await using stack = new AsyncDisposableStack();
  const { baseUrl, seen } = await startScripted(stack, [{ status: 200, body: {} }]);
  const { Sluice } = await import('./index.ts');
  const sluice = new Sluice({ baseUrl: `${baseUrl}/behind//`, apiKey, headerPrefix: 'ACME' });
  await sluice.tokenize(null);
  expect(seen[0]).toMatchObject({ url: '/behind/tokenize', body: 'null', headers: { 'acme-api-key': apiKey } });
});

test.each([
  [{ baseUrl: 'sluice.example.com' }, 'baseUrl'],
  [{ baseUrl: 'ftp://sluice.example.com' }, 'baseUrl'],
  [{ baseUrl: 'https://user:pass@sluice.example.com' }, 'baseUrl'],
  [{ baseUrl: 'https://sluice.example.com?x' }, 'baseUrl'],
  [{ apiKey: '' }, 'apiKey'],
  [{ apiKey: 'svc_with a_blank' }, 'apiKey'],
  [{ apiKey: 'svc_with_a_line_break\n' }, 'apiKey'],
  [{ headerPrefix: 'A:B' }, 'headerPrefix'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ retries: -1 }, 'retries'],
])('an option that cannot be right is named, and no value repeated: %j', async (options, name) => {
  const { Sluice } = await import('./index.ts');
  const make = () => new Sluice({ baseUrl: 'https://sluice.example.com', apiKey, ...options });
  expect(make).toThrow(TypeError);
  expect(make).toThrow(new RegExp(`^${name} (?!.*svc_)`));
});

describe('a member that restricts', () => {
  const name = { name: 'n' };

  test.each<[string, object, object, boolean]>([
    ['is in the answer', { proxies: ['p'] }, { proxies: ['p'] }, false],
    ['was not sent', {}, {}, false],
    ['was taken away', { proxies: null }, {}, false],
    ['was dropped', { proxies: ['p'] }, {}, true],
  ])('that %s: %j, %j', async (_name, sent, stored, rejects) => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [{ status: 200, body: { id: 'a', ...name, ...stored } }]);
    const change = sluice.applications.update('a', { ...name, ...sent });
    if (rejects) await expect(change).rejects.toThrow('proxies was not stored in a');
    else await expect(change).resolves.toMatchObject(name);
  });

  test.each<[string, object, object, boolean]>([
    ['stored', { use: { max_uses: 1 } }, { created_at: 'c', use: { max_uses: 1 } }, false],
    ['dropped', { use: { max_uses: 1 } }, { created_at: 'c' }, true],
    ['removed', { use: null }, { created_at: 'c' }, false],
    ['changed by a key that may not read the token', { use: { max_uses: 1 } }, {}, false],
  ])('use in a patch, if it is %s', async (_name, sent, stored, rejects) => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [{ status: 200, body: { id: 't', ...stored } }]);
    const change = sluice.tokens.patch('t', sent);
    if (rejects) await expect(change).rejects.toThrow('use was not stored in t');
    else await expect(change).resolves.toMatchObject({ id: 't' });
  });

  test('use in a create, if an equal token without it is answered', async () => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [{ status: 200, body: { id: 't' } }]);
    const create = sluice.tokens.create({ data: 'v', use: { max_uses: 1 } });
    await expect(create).rejects.toThrow('use was not stored in t');
  });

  test.each([
    ['redact', true],
    ['off', false],
  ])('response_guard %s in a PUT, if it was not stored', async (response_guard, rejects) => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [{ status: 200, body: { id: 'p' } }]);
    const change = sluice.proxies.update('p', { name: 'P', destination_url: 'https://d', response_guard } as never);
    if (rejects) await expect(change).rejects.toThrow('response_guard was not stored in p');
    else await expect(change).resolves.toEqual({ id: 'p' });
  });

  test('is missed in a create from JSON text, too', async () => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [{ status: 201, body: { id: 'p' } }]);
    const body = new JsonText('{"allowed_paths":["/a"]}') as never;
    await expect(sluice.proxies.create(body)).rejects.toThrow('allowed_paths was not stored in p');
  });
});
