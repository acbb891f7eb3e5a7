import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations as commands } from './commands.ts';
import type { OperationCommand } from './operation-command.ts';
import { keys, type Seen, startService, type } from './testing/test-command-line.ts';

const document: {
  paths: Record<string, Record<string, { 'x-sluice-method': string; requestBody?: { content: object } }>>;
} = JSON.parse(
  await readFile(new URL('../../../services/management-api/public/openapi.json', import.meta.url), 'utf8'),
);
const described = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const contentTypes = Object.keys(operation.requestBody?.content ?? {});
      return [operation['x-sluice-method'], { method: method.toUpperCase(), path, contentTypes }] as const;
    }),
  ),
);

async function setUp(closing: AsyncDisposableStack, answer: object) {
  let body: unknown = [];
  const service = await startService(closing, () => ({ status: 200, body }));
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const env = { XDG_CONFIG_HOME: home };
  await type(['login', '--url', service.url], { env, stdin: Object.values(keys).join('\n') });
  service.seen.length = 0;
  body = answer;
  return { seen: service.seen, env };
}

function typedFor({ words, params, query, prefixes, body }: OperationCommand): string[] {
  return [
    ...words,
    ...params.map((_, index) => `id ${index}`),
    ...query.flatMap(({ name, isList }) => {
      const option = `--${name.replaceAll('_', '-')}`;
      return [option, `${name} 1`, ...(isList ? [option, `${name} 2`] : [])];
    }),
    ...prefixes.flatMap((prefix) => [`--${prefix.slice(0, -1)}`, 'a b=c=d']),
    ...(body ? ['--data', '{ "some": "body" }'] : []),
  ];
}

/** What was typed; lists add their position. */
const sentBody = ({ answer }: OperationCommand) => (answer === 'list' ? '{"some":"body"}' : '{ "some": "body" }');

function expectedUrl({ query, prefixes }: OperationCommand, path: string): string {
  let index = 0;
  const pairs = [
    ...query.flatMap(({ name, isList }) => [1, ...(isList ? [2] : [])].map((number) => [name, `${name} ${number}`])),
    ...prefixes.map((prefix) => [`${prefix}a b`, 'c=d']),
  ];
  const filled = path.replace(/\{\w+\}/g, () => `id%20${index++}`);
  return pairs.length > 0 ? `${filled}?${new URLSearchParams(pairs)}` : filled;
}

test.each(commands.map((command) => [command.words.join(' '), command] as const))(
  'sluice %s asks for what was typed, with the key that may',
  async (_words, command) => {
    await using closing = new AsyncDisposableStack();
    const { seen, env } = await setUp(closing, { id: 'x', name: 'an answer' });
    const { code, out, error } = await type(typedFor(command), { env, isTerminal: false });
    const { method, path, contentTypes } = described.get(command.method) ?? {};
    expect(seen).toHaveLength(1);
    const [{ headers, ...request }] = seen as [Seen];
    expect(request).toEqual({
      method,
      url: expectedUrl(command, path ?? ''),
      body: command.body ? sentBody(command) : '',
    });
    if (command.body) expect(contentTypes).toEqual([headers['content-type']]);
    const allowed = ['private', 'public', 'management'].filter((one) => command.keyTypes?.includes(one) ?? true);
    const expected = { 'sessions.create': 'public' }[command.method] ?? allowed[0];
    expect(headers['svc-api-key']).toBe(keys[expected as keyof typeof keys]);
    expect([code, error]).toEqual([0, '']);
    if (command.answer === 'none') expect(out).toBe('');
    else expect(out).toContain('an answer');
  },
);

test.each(
  commands.filter(({ body }) => body === 'required').map((command) => [command.words.join(' '), command] as const),
)('sluice %s shows an example that is JSON, and asks for nothing without a body', async (_words, command) => {
  const bare = [...command.words, ...command.params.map((_, index) => `id ${index}`)];
  const { code, error } = await type(bare, { env: { SLUICE_URL: 'https://x.example', SLUICE_API_KEY: 'k' } });
  expect([code, error]).toEqual([2, expect.stringContaining('needs --data')]);
  const { out } = await type([...command.words, '--help']);
  const [, example = ''] = /Example: --data '(.*)'$/m.exec(out) ?? [];
  expect(JSON.parse(example)).toEqual(command.example);
});

test('a profile without the key that may says so, and asks for nothing', async () => {
  await using closing = new AsyncDisposableStack();
  const service = await startService(closing, () => ({ status: 200, body: [] }));
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const env = { XDG_CONFIG_HOME: home };
  await type(['login', '--url', service.url], { env, stdin: keys.public });
  service.seen.length = 0;
  const { code, error } = await type(['proxies', 'list'], { env });
  expect([code, error]).toEqual([2, expect.stringMatching(/needs a management key.*sluice login/)]);
  expect(service.seen).toEqual([]);
});

describe('what --data names is sent as it is', () => {
  const given = '{"type":"token","data":[10.00,9007199254740993,1e400,"é"]}';

  test.each<[string, string | Buffer, number, string]>([
    ['text', given, 0, given],
    ['after a byte order mark', `\ufeff${given}`, 0, given],
    ['not in ISO-8859-1, which would become other characters', Buffer.from(given, 'latin1'), 2, 'is not UTF-8'],
    ['not in UTF-16', Buffer.from(`\ufeff${given}`, 'utf16le'), 2, 'is not UTF-8'],
  ])('%s', async (_, content, expected, said) => {
    await using closing = new AsyncDisposableStack();
    const { seen, env } = await setUp(closing, { id: 'x' });
    const file = join(env.XDG_CONFIG_HOME, 'body.json');
    await writeFile(file, content);
    for (const [data, stdin] of [
      [`@${file}`, ''],
      ['-', content],
    ] as const) {
      seen.length = 0;
      const { code, error } = await type(['tokens', 'create', '--data', data], { env, stdin, isTerminal: false });
      expect([code, code === 0 ? seen[0]?.body : error]).toEqual([
        expected,
        code === 0 ? said : expect.stringContaining(said),
      ]);
      expect(seen).toHaveLength(code === 0 ? 1 : 0);
    }
  });
});

describe('JSON for programs is the text that came', () => {
  const numbers = '{"data":[9007199254740993,10.00,1e400,-0],"a":{},"b":[],"c":"{\\"x\\":1, [2]}\\\\"}';
  const indented = `{
  "data": [
    9007199254740993,
    10.00,
    1e400,
    -0
  ],
  "a": {},
  "b": [],
  "c": "{\\"x\\":1, [2]}\\\\"
}
`;

  test.each([
    ['an answer', ['tokens', 'get', 'x'], numbers, indented],
    ['a page', ['tokens', 'list'], '{"data":[],"pagination":{"total_items":1.0}}', /"total_items": 1\.0\n/],
    ['a value', ['detokenize', '--data', '{}'], '9007199254740993', '9007199254740993\n'],
  ])('of %s', async (_, typed, text, expected) => {
    await using closing = new AsyncDisposableStack();
    const { url } = await startService(closing, () => ({ status: 200, text }));
    const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private };
    const { code, out } = await type(typed, { env, isTerminal: false });
    expect([code, out]).toEqual([0, typeof expected === 'string' ? expected : expect.stringMatching(expected)]);
    expect((await type([...typed, '--json'], { env })).out).toBe(out);
  });

  test('indented as JSON.stringify does, and escaped for a terminal', async () => {
    await using closing = new AsyncDisposableStack();
    const body = { a: ['\u001b[2J\u202e', 1, null, true, { b: [[]], c: { d: '' } }], '': {} };
    const { url } = await startService(closing, () => ({ status: 200, body }));
    const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private };
    const { out } = await type(['tokens', 'get', 'x', '--json'], { env });
    expect(out).toBe(`${JSON.stringify(body, undefined, 2).replace('\u202e', '\\u202e')}\n`);
  });
});
