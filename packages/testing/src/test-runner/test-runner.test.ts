import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openTemporaryFolder } from '../temporary-folder.ts';

const jestBin = fileURLToPath(new URL('../../../../node_modules/jest/bin/jest.js', import.meta.url));

interface Outcome {
  numPassedTests: number;
  numFailedTests: number;
  success: boolean;
  testResults: { message: string; assertionResults: { title: string; status: string }[] }[];
}

const slowModule = new URL('../slow.ts', import.meta.url).href;

async function run(code: string, { commits = 0 } = {}): Promise<Outcome & { statuses: Record<string, string> }> {
  await using closing = new AsyncDisposableStack();
  const directory = await openTemporaryFolder(closing, 'runner');
  const config = { rootDir: directory, transform: {}, testTimeout: 300 };
  const runner = fileURLToPath(new URL('./test-runner.ts', import.meta.url));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'one.test.js'), code);
  await writeFile(join(directory, 'jest.config.json'), JSON.stringify({ ...config, runner }));
  if (commits > 0) await git(directory, 'init', '--quiet');
  for (let n = 0; n < commits; n++) await git(directory, ...commit);
  const outputFile = join(directory, 'outcome.json');
  const args = [jestBin, '--config', join(directory, 'jest.config.json'), '--json', '--outputFile', outputFile];
  await new Promise((resolve) => execFile(process.execPath, args, { cwd: directory }, resolve));
  const outcome: Outcome = JSON.parse(await readFile(outputFile, 'utf8'));
  const assertions = outcome.testResults.flatMap(({ assertionResults }) => assertionResults);
  return { ...outcome, statuses: Object.fromEntries(assertions.map(({ title, status }) => [title, status])) };
}

const commit = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--allow-empty', '-m', 'A'];

const git = (cwd: string, ...args: string[]) => promisify(execFile)('git', args, { cwd });

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

describe('slow tests', () => {
  const code = `
    import { slow } from '${slowModule}';
    test('quick', () => {});
    for (const name of ['a', 'b', 'c', 'd']) slow('0.3 s')(name, () => {});
    describe('each', () => {
      beforeAll(() => { throw new Error('opened for nothing'); });
      slow('0.3 s').each([1, 2])('row %s', () => {});
    });
  `;

  test('each of four commits in a row runs another quarter, and opens nothing for the others', async () => {
    const ran: string[] = [];
    for (const commits of [4, 5, 6, 7]) {
      const { statuses } = await run(code, { commits });
      expect(statuses.quick).toBe('passed');
      ran.push(...['a', 'b', 'c', 'd'].filter((name) => statuses[name] === 'passed'));
      expect(new Set(Object.values(statuses)).size).toBeGreaterThan(1);
    }
    expect(ran.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('all run where the number of commits is unknown', async () => {
    const { statuses } = await run(code);
    expect(statuses).toMatchObject({ a: 'passed', b: 'passed', c: 'passed', d: 'passed', 'row 1': 'failed' });
  });
});
