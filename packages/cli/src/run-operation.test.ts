import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, type Seen, startService, type } from './command-line-for-tests.ts';
import { operations as commands } from './commands.ts';
import type { OperationCommand } from './operation-command.ts';

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
      body: command.body ? '{"some":"body"}' : '',
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
