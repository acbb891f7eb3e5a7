import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, startService, type } from '../testing/test-command-line.ts';

const trial = { result: { raw: { fee: 25 } }, console: [{ level: 'info', text: 'hello\u001b[2J' }], duration_ms: 1 };

async function tryFile(files: Record<string, string>, options: string[], answer: object = trial, isTerminal = false) {
  await using closing = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-reactor-'));
  closing.defer(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { url, seen } = await startService(closing, () => ({ status: 200, body: answer }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const typed = options.map((word) => (word in files ? join(folder, word) : word));
  const printed = await type(['reactors', 'test', ...typed], { env, isTerminal });
  return { ...printed, asked: seen.map(({ method, url, body }) => [`${method} ${url}`, JSON.parse(body)]) };
}

test('sends the code with args of any JSON and configuration, and programs get the answer', async () => {
  const files = { 'code.js': 'module.exports = f', 'args.json': '[1]', 'conf.json': '{"RATE": 0.02}' };
  const options = ['code.js', '--args', 'args.json', '--configuration', 'conf.json'];
  const { code, out, asked } = await tryFile(files, options);
  expect(asked).toEqual([
    ['POST /reactors/test', { code: 'module.exports = f', args: [1], configuration: { RATE: 0.02 } }],
  ]);
  expect([code, JSON.parse(out)]).toEqual([0, trial]);
});

test('people get what was printed and returned, with control characters escaped', async () => {
  const { code, out, asked } = await tryFile({ 'code.js': 'f' }, ['code.js'], trial, true);
  expect(asked).toEqual([[expect.any(String), { code: 'f', args: {}, configuration: {} }]]);
  expect([code, out]).toEqual([0, 'console.info: hello\\u001b[2J\n{\n  "raw": {\n    "fee": 25\n  }\n}\n']);
});

test('leaves with 1 where the code has failed, and says where', async () => {
  const error = { status: 500, title: 'Reactor failed', detail: 'Error: no', line: 2 };
  const { code, out } = await tryFile({ 'code.js': 'f' }, ['code.js'], { error, console: [], duration_ms: 1 }, true);
  expect([code, out]).toEqual([1, 'Reactor failed: Error: no (line 2)\n']);
});

test('leaves with 2 for files that cannot be used, and asks nothing', async () => {
  for (const files of [{}, { 'code.js': 'f', 'conf.json': '[]' }, { 'code.js': 'f', 'conf.json': '{' }]) {
    const { code, asked } = await tryFile(files, ['code.js', '--configuration', 'conf.json']);
    expect([code, asked]).toEqual([2, []]);
  }
});
