import { openTemporaryFolder } from '@sluice/testing';
import { readBlocks } from './read-blocks.ts';
import { runBlocks } from './run-blocks.ts';

/** What goes wrong in a document with one block of each text. */
async function faultsOf(texts: string[], timeoutMs = 20_000): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const directory = await openTemporaryFolder(stack, 'blocks');
  const markdown = texts.map((text) => `Some words\n\n\`\`\`sh\n${text}\n\`\`\`\n`).join('\n');
  const { PATH = '' } = process.env;
  return await runBlocks(readBlocks(markdown), { directory, env: { PATH }, timeoutMs });
}

test('blocks share a shell, and print what their comments say', async () => {
  const texts = [
    '# a remark\nNAME=world',
    'echo hello $NAME; echo; echo a.b\n# hello …\n# a.b\n\n# another remark\ntrue',
  ];
  expect(await faultsOf(texts)).toEqual([]);
});

test('programs are run too, in the same folder and environment', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = await openTemporaryFolder(stack, 'blocks');
  const program =
    "// a remark\nconst name: string = process.env.NAME ?? '';\nconsole.log('hello', name);\n// hello world";
  const markdown = `\`\`\`sh\nexport NAME=world\n\`\`\`\n\n\`\`\`ts\n${program}\n\`\`\`\n\n\`\`\`js\nthrow new Error('why');\n\`\`\`\n`;
  const { PATH = '' } = process.env;
  const faults = await runBlocks(readBlocks(markdown), { directory, env: { PATH }, timeoutMs: 20_000 });
  expect(faults).toEqual([expect.stringMatching(/^the block of line 13 failed \(1\):.*why/s)]);
});

test('what is marked as another language is not run', () => {
  const blocks = readBlocks('```sh\ntrue\n```\n\n```console\nfalse\n```\n\n```\nfalse\n```\n');
  expect(blocks).toEqual([{ line: 2, script: 'true', expected: [] }]);
});

test.each([
  ['a command fails', ['true', 'echo why; false; true', 'true'], /^the block of line 10 failed \(1\):\nwhy/],
  ['the first of a pipe fails', ['false | cat'], /failed \(1\)/],
  ['a variable of shell syntax is broken', ['if'], /failed/],
  ['a line is not printed', ['echo 200\n# 401'], /did not print 401:\n200/],
  ['a line is printed in part', ['echo 4010\n# 401'], /did not print 401/],
  ['a dot is no wildcard', ['echo axb\n# a.b'], /did not print a\.b/],
  ['lines come in another order', ['printf "b\\na\\n"\n# a\n# b'], /did not print b/],
])('%s: it is told, with the block', async (_, texts, fault) => {
  expect(await faultsOf(texts)).toEqual([expect.stringMatching(fault)]);
});

test('what hangs is ended, and what was left running too', async () => {
  const [fault] = await faultsOf(['sleep 4711 &\nsleep 4712'], 500);
  expect(fault).toMatch(/did not end in time/);
  expect(await faultsOf(['sleep 4711 &\ntrue'])).toEqual([]);
});
