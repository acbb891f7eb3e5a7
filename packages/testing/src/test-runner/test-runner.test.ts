import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTemporaryFolder } from '../temporary-folder.ts';

const jestBin = fileURLToPath(new URL('../../../../node_modules/jest/bin/jest.js', import.meta.url));

interface Outcome {
  numPassedTests: number;
  numFailedTests: number;
  success: boolean;
  testResults: { message: string; assertionResults: { title: string; status: string }[] }[];
}

async function run(code: string): Promise<Outcome & { statuses: Record<string, string> }> {
  await using closing = new AsyncDisposableStack();
  const directory = await openTemporaryFolder(closing, 'runner');
  const config = { rootDir: directory, transform: {}, testTimeout: 300 };
  const runner = fileURLToPath(new URL('./test-runner.ts', import.meta.url));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'one.test.js'), code);
  await writeFile(join(directory, 'jest.config.json'), JSON.stringify({ ...config, runner }));
  const outputFile = join(directory, 'outcome.json');
  const args = [jestBin, '--config', join(directory, 'jest.config.json'), '--json', '--outputFile', outputFile];
  await new Promise((resolve) => execFile(process.execPath, args, { cwd: directory }, resolve));
  const outcome: Outcome = JSON.parse(await readFile(outputFile, 'utf8'));
  const assertions = outcome.testResults.flatMap(({ assertionResults }) => assertionResults);
  return { ...outcome, statuses: Object.fromEntries(assertions.map(({ title, status }) => [title, status])) };
}

test('tests that fail, hang or lack an assertion that they announce are told apart from those that pass', async () => {
  const outcome = await run(`
    test('passes', () => expect(1).toBe(1));
    test('fails', () => expect(1).toBe(2));
    test('hangs', () => new Promise((resolve) => setTimeout(resolve, 100_000).unref()));
    test('lacks an assertion', () => { expect.assertions(1); });
    describe('hooks', () => {
      beforeEach(() => { throw new Error('in a hook'); });
      test('fails by its hook', () => {});
    });
  `);
  expect(outcome.statuses).toEqual({
    passes: 'passed',
    fails: 'failed',
    hangs: 'failed',
    'lacks an assertion': 'failed',
    'fails by its hook': 'failed',
  });
  expect(outcome.testResults[0]?.message).toContain('Exceeded timeout of 300 ms');
});

test('what fails while a test closes what it opened does not hide why the test failed', async () => {
  const outcome = await run(`
    test('fails', async () => {
      await using stack = new AsyncDisposableStack();
      stack.defer(() => { throw new Error('closed twice'); });
      expect('what was wrong').toBe('what is right');
    });
  `);
  const { message } = outcome.testResults[0] ?? {};
  expect(message).toMatch(/what was wrong.*closed twice/s);
});

test.each([
  ['a rejection that nobody handles', `test('passes', () => { Promise.reject(new Error('lost')); });`],
  [
    'an error outside of every test',
    `test('passes', () => { setTimeout(() => { throw new Error('lost'); }, 0); });
    test('waits', () => new Promise((resolve) => setTimeout(resolve, 50)));`,
  ],
  ['a file that cannot be imported', `import './lost.js';`],
])('%s fails the file', async (_, code) => {
  const outcome = await run(code);
  expect(outcome.success).toBe(false);
  expect(outcome.testResults[0]?.message).toContain('lost');
});
