import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment, useChildren } from '@sluice/testing';

const main = join(import.meta.dirname, 'main.ts');
const tracked = useChildren();
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transform-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function start(...args: string[]): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const child = tracked(spawn(process.execPath, [main, ...args], { cwd: folder, env: { ...programEnvironment() } }));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output: () => text, ended };
}

async function run(...args: string[]) {
  const { ended, output } = start(...args);
  return { code: await ended, output: output() };
}

const put = (name: string, text: string) => writeFile(join(folder, name), text);

test('prints what the transform returned and printed', async () => {
  await put(
    'good.js',
    'module.exports = async ({ args, configuration }) => {\n  console.log("seen", args.body);\n  return { body: { a: args.body.a + 1, key: configuration.KEY, method: args.method }, headers: { "x-b": "2" } } }',
  );
  await put('args.json', '{ "body": { "a": 1 }, "method": "PUT" }');
  await put('configuration.json', '{ "KEY": "value" }');
  const { code, output } = await run('test', 'good.js', '--args', 'args.json', '--configuration', 'configuration.json');
  expect(code).toBe(0);
  expect(output).toContain('console\n  info   seen { a: 1 }');
  expect(output).toContain('body\n  {\n    "a": 2,\n    "key": "value",\n    "method": "PUT"\n  }');
  expect(output).toContain('headers\n  {\n    "x-b": "2"\n  }');
  expect(output).toMatch(/\d ms, [\d.]+ ms of CPU time/);
});

test('a stand-in answers req.svc, and the output says so', async () => {
  await put(
    'client.js',
    `module.exports = async ({ args, svc }) => {
  const token = await svc.tokens.create({ data: 'secret', metadata: { a: '1' } });
  await svc.tokens.update(token.id, { data: 'Ada Lovelace', metadata: { b: '2' } });
  const { metadata } = await svc.tokens.retrieve(token.id);
  const document = await svc.tokenize({ name: 'Grace', card: { type: 'token', data: [1] } });
  const back = await svc.detokenize({ a: \`{{ \${token.id} | upcase }}\`, b: \`{{ \${document.card.id} }}\`, c: \`to {{ \${document.name} }}.\` });
  await svc.tokens.delete(token.id);
  const gone = await svc.tokens.retrieve(token.id).catch((error) => error.status);
  return { body: { metadata, back, gone } };
}`,
  );
  const { code, output } = await run('test', 'client.js');
  expect([code, output]).toEqual([0, expect.stringContaining('req.svc: a stand-in answered 7 calls')]);
  const body = { metadata: { a: '1', b: '2' }, back: { a: 'ADA LOVELACE', b: [1], c: 'to Grace.' }, gone: 404 };
  expect(output.replaceAll(/\s/g, '')).toContain(JSON.stringify(body).replaceAll(/\s/g, ''));
});

test.each([
  [
    'throws',
    'module.exports = async () => {\n  const a = 1;\n  return a.b.c;\n}',
    ['500 Transform failed: TypeError', 'throws.js:3:', '  3 |   return a.b.c;'],
  ],
  [
    'refuses',
    "const { BadRequestError } = require('svc-errors');\nmodule.exports = async () => { throw new BadRequestError('no', { a: ['b'] }) }",
    ['400 Bad request: no', 'refuses.js:2:', '"a": ['],
  ],
  [
    'answers',
    "module.exports = async () => { throw new (require('svc-errors').CustomHttpResponseError)({ status: 402, body: 1 }) }",
    ['402 CustomHttpResponseError', 'body 1'],
  ],
  ['breaks', 'const a = 1;\nconst b = ;', ['SyntaxError', 'breaks.js:2:', '  2 | const b = ;']],
  [
    'returns_the_body',
    'module.exports = async ({ args }) => ({ number: args.body.number ?? "4242", cvc: "737" })',
    ['500 Transform failed: TypeError', 'returned an object with "number", "cvc"; it must return { body, headers }'],
  ],
  ['waits', 'module.exports = () => new Promise(() => {})', ['can never settle', 'stopped_by "stuck"']],
])('a transform that %s: an error at its place, and 1', async (name, text, parts) => {
  await put(`${name}.js`, text);
  const { code, output } = await run('test', `${name}.js`);
  expect(code).toBe(1);
  for (const part of parts) expect(output).toContain(part);
});

test('the control: {} is a result, and the output says what it leaves', async () => {
  await put('empty.js', 'module.exports = async () => ({})');
  const { code, output } = await run('test', 'empty.js');
  expect([code, output]).toEqual([
    0,
    expect.stringContaining('neither body nor headers returned: both stay as they came'),
  ]);
});

test.each([
  [[], 0, 'Usage: npm run transform'],
  [['--help'], 0, 'Usage: npm run transform'],
  [['other'], 2, 'There is no command other'],
  [['test'], 2, 'test needs a file'],
  [['test', 'a.js', '--kind', 'x'], 2, '--kind is request or response'],
  [['test', 'a.js', '--other'], 2, "Unknown option '--other'"],
  [['test', 'none.js'], 1, 'none.js cannot be read'],
  [['test', 'good.js', '--args', 'good.js'], 1, 'good.js is not JSON'],
  [['test', 'good.js', '--configuration', 'list.json'], 1, 'list.json must contain a JSON object'],
  [['test', 'good.js', '--configuration', 'numbers.json'], 1, 'numbers.json: a must be text'],
])('%j leaves with %i: %s', async (args, expected, text) => {
  await put('good.js', 'module.exports = async () => ({})');
  await put('list.json', '[]');
  await put('numbers.json', '{"a":1}');
  const { code, output } = await run(...args);
  expect([code, output]).toEqual([expected, expect.stringContaining(text)]);
});

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`did not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('--watch runs it again after each change, through its errors, until Ctrl-C', async () => {
  await put('watched.js', 'module.exports = async () => ({ body: "one" })');
  const { child, output, ended } = start('test', 'watched.js', '--watch');
  await until('the first', () => output().includes('"one"') && output().includes('Waiting'));
  await put('watched.js', 'module.exports = async () => { null.x }');
  await until('the error', () => output().includes('watched.js:1:'));
  await put('watched.js', 'module.exports = async () => ({ body: "three" })');
  await until('the third', () => output().includes('"three"'));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});

test('types writes what an editor needs, with the names of the prefix, and leaves a jsconfig.json alone', async () => {
  const first = await run('types', 'typed');
  expect([first.code, (await readdir(join(folder, 'typed'))).sort()]).toEqual([
    0,
    ['jsconfig.json', 'transform-globals.d.ts', 'transform.d.ts'],
  ]);
  await put('typed/jsconfig.json', '{}');
  expect((await run('types', 'typed')).output).toContain('stays as it is');
  expect(await readFile(join(folder, 'typed/jsconfig.json'), 'utf8')).toBe('{}');
  await run('types', 'reactors', '--kind', 'reactor');
  expect((await readdir(join(folder, 'reactors'))).sort()).toEqual([
    'jsconfig.json',
    'reactor.d.ts',
    'transform-globals.d.ts',
    'transform.d.ts',
  ]);
});
