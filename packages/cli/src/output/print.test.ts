import { keys, startService, type } from '../testing/test-command-line.ts';

type Answer = Parameters<typeof startService>[1];

async function typeAt(answer: Answer, typed: readonly string[], isTerminal: boolean | 'errors only') {
  await using closing = new AsyncDisposableStack();
  const service = await startService(closing, answer);
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  return await type(typed, { env, isTerminal });
}

const answering =
  (body: unknown): Answer =>
  () => ({ status: 200, body });
const page = (pagination: object, ...data: object[]) => answering({ pagination, data });
const two = [
  { id: '1', name: 'one', rules: [], key: 'a' },
  { id: '2', name: 'twenty-two', rules: [], key: 'b' },
];

test.each<[string, Answer, string, string]>([
  [
    'a table',
    page({ page_number: 1, total_pages: 1 }, ...two),
    'ID  NAME        KEY\n1   one         a\n2   twenty-two  b\n',
    '',
  ],
  [
    'the name of a route beside that of its Proxy',
    page({}, { id: '1', key: 'a', name: 'one', path_name: 'processor' }),
    'ID  NAME  PATH_NAME  KEY\n1   one   processor  a\n',
    '',
  ],
  ['no rows', page({ page_number: 1, total_pages: 1 }), '', 'None.\n'],
  [
    'a part',
    page({ page_number: 1, total_pages: 3, total_items: 5 }, { id: '1' }),
    'ID\n1\n',
    'This is page 1 of 3. There are 5 items in all. To see more, use --page, or --all\n',
  ],
  [
    'a part by cursor',
    page({ page_size: 1, next: 'c+1' }, { id: '1' }),
    'ID\n1\n',
    'There are more items. To see them, use --start c+1, or --all\n',
  ],
  ['what a terminal would obey', page({}, { id: '1\u001b[2J\u202e' }), 'ID\n1\\u001b[2J\\u202e\n', ''],
])('a list on a terminal: %s', async (_name, answer, out, error) => {
  expect(await typeAt(answer, ['proxies', 'list'], true)).toMatchObject({ code: 0, out, error });
});

test.each<[string, object, string]>([
  [
    'search',
    { page_number: 1, total_pages: 3, total_items: 5 },
    'This is page 1 of 3. There are 5 items in all. To see more, use "page": 2 in --data, or --all\n',
  ],
  [
    'search-by-cursor',
    { page_size: 1, next: 'c+1' },
    'There are more items. To see them, use "start": "c+1" in --data, or --all\n',
  ],
])('sluice tokens %s on a terminal says how its body asks for more', async (verb, pagination, error) => {
  const typed = ['tokens', verb, '--data', '{}'];
  expect(await typeAt(page(pagination, { id: '1' }), typed, true)).toMatchObject({ code: 0, out: 'ID\n1\n', error });
});

test('keys of an Application are told apart by name, last characters and last use, on a terminal too', async () => {
  const key = { version: 2, last_four: 'x9Qa', created_by: 'b', created_at: 'c', last_used_at: 'u', expires_at: 'e' };
  const keysOf = answering([
    { id: '2', ...key, name: 'Backend' },
    { id: '1', version: 1, created_at: 'c' },
  ]);
  const { out } = await typeAt(keysOf, ['keys', 'list', 'an-id'], true);
  expect(out).toBe(
    [
      'ID  NAME     LAST_FOUR  LAST_USED_AT  CREATED_AT  VERSION',
      '2   Backend  x9Qa       u             c           2',
      '1                                     c           1',
      '',
    ].join('\n'),
  );
});

test('a table has the columns that fit into a line of 80, and no configuration, which holds secrets', async () => {
  const row = {
    id: 'i'.repeat(36),
    name: 'n'.repeat(20),
    created_at: 'c'.repeat(24),
    configuration: { KEY: 'sk_live' },
  };
  const { out } = await typeAt(page({}, row), ['proxies', 'list'], true);
  expect(out).toBe(`ID${' '.repeat(36)}NAME\n${'i'.repeat(36)}  ${'n'.repeat(20)}\n`);
});

test('an answer on a terminal is a member a line, and JSON elsewhere and with --json', async () => {
  const answer = answering({ id: '1', rules: [{ a: 1 }] });
  const get = ['proxies', 'get', '1'];
  const json = '{\n  "id": "1",\n  "rules": [\n    {\n      "a": 1\n    }\n  ]\n}\n';
  expect((await typeAt(answer, get, true)).out).toBe('id     1\nrules  [{"a":1}]\n');
  expect((await typeAt(answer, get, false)).out).toBe(json);
  expect((await typeAt(answer, [...get, '--json'], true)).out).toBe(json);
});

test('a text is written as it is, escaped on a terminal, and JSON with --json', async () => {
  const text = 'origin\n5\n\u001b[2J';
  const checkpoint: Answer = (_seen, _request, response) => void response.end(text);
  expect((await typeAt(checkpoint, ['logs', 'checkpoint'], false)).out).toBe(text);
  expect((await typeAt(checkpoint, ['logs', 'checkpoint'], true)).out).toBe('origin\n5\n\\u001b[2J\n');
  const asJson = await typeAt(checkpoint, ['logs', 'checkpoint', '--json'], false);
  expect(JSON.parse(asJson.out)).toBe(text);
});

test('an answer of nothing is told on a terminal only', async () => {
  const deleted: Answer = () => ({ status: 204 });
  expect(await typeAt(deleted, ['proxies', 'delete', '1'], true)).toMatchObject({ out: '', error: 'Done.\n' });
  expect(await typeAt(deleted, ['proxies', 'delete', '1'], false)).toMatchObject({ out: '', error: '' });
});

const pages: Answer = ({ url }) => {
  const number = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1);
  const data = Array.from({ length: 20 }, (_, index) => ({ id: `${number}-${index}` }));
  const pagination = { page_number: number, page_size: 20, total_pages: 2, total_items: 40 };
  return { status: 200, body: { pagination, data } };
};
const cleared = '\r\u001b[K';

test('--all tells its progress where a person watches and nothing else is written', async () => {
  const all = ['proxies', 'list', '--all'];
  const progress = `${cleared}20 so far${cleared}40 so far${cleared}`;
  expect(await typeAt(pages, all, true)).toMatchObject({ error: progress, out: expect.stringMatching(/^ID\n1-0\n/) });
  expect(await typeAt(pages, all, 'errors only')).toMatchObject({ error: progress });
  expect((await typeAt(pages, [...all, '--json'], true)).error).toBe('');
  const elsewhere = await typeAt(pages, all, false);
  expect([elsewhere.error, elsewhere.out.split('\n').length]).toEqual(['', 41]);
});

test('an export tells its progress likewise, and its bytes stay as they are', async () => {
  const exported: Answer = (_seen, _request, response) => void response.writeHead(200).end('{"a":1}\n');
  const written = await typeAt(exported, ['logs', 'export'], 'errors only');
  expect(written).toMatchObject({ out: '{"a":1}\n', error: `${cleared}0.0 MB so far${cleared}` });
  expect(await typeAt(exported, ['logs', 'export'], true)).toMatchObject({ out: '{"a":1}\n', error: '' });
  expect(await typeAt(exported, ['logs', 'export'], false)).toMatchObject({ out: '{"a":1}\n', error: '' });
});
