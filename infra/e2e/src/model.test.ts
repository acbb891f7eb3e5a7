import { type Check, checks } from '../model/checks.ts';
import { readResult, runChecks } from '../model/spin.ts';
import { runProgram } from './run-program.ts';

const main = 'infra/e2e/model/main.ts';

async function run(check: Partial<Check>) {
  const lines: string[] = [];
  const found = checks.filter(({ name }) => name === check.name).map((known) => ({ ...known, ...check }));
  const { signal } = new AbortController();
  const options = { isQuick: true, path: process.env.PATH ?? '', signal, log: (line: string) => lines.push(line) };
  return { surprises: await runChecks(found, options), text: lines.join('\n') };
}

test('a protocol that is not safe is noticed', async () => {
  expect((await run({ name: 'row-clock', mustHold: true })).surprises).toEqual(['row-clock']);
});

test('the whole protocol holds, also in a search that expects it not to', async () => {
  expect(await run({ name: 'one-holder' })).toMatchObject({
    surprises: [],
    text: expect.stringMatching(/ holds: 1\d\d,/),
  });
  expect((await run({ name: 'one-holder', mustHold: false })).surprises).toEqual(['one-holder']);
});

test('without waiting it is violated, which is told step by step', async () => {
  const { surprises, text } = await run({ name: 'barrier' });
  expect(surprises).toEqual([]);
  expect(text).toContain('violated');
  expect(text).toMatch(/writer 1: ANSWERS that value 1 is in force\n +holder 1: SERVES VALUE 0 FROM ITS CACHE/);
});

/** What the verifier of spin 6.5.2 writes, without the lines that nobody reads. */
const whole = `
Full statespace search for:
	assertion violations	+
State-vector 60 byte, depth reached 28531, errors: 0
   116342 states, stored
pan: elapsed time 1.92 seconds
`;

test('large counts are read as spin writes them', () => {
  expect(readResult(whole)).toEqual({ isViolated: false, states: 116_342, seconds: 1.92 });
  expect(readResult(whole.replace('116342', '1.4513085e+08')).states).toBe(145_130_850);
});

test.each([
  ['it was not deep enough', `error: max search depth too small\n${whole}`],
  ['memory ran out', whole.replace('Full', 'Warning: Search not completed\n\nFull')],
  ['states were not stored whole', whole.replace('Full statespace search', 'Bit statespace search')],
  ['the error is another one', whole.replace('errors: 0', 'errors: 1')],
  ['it was cut short', whole.slice(0, 120)],
  ['it said nothing', ''],
])('a search is no result where %s', (_, output) => {
  expect(() => readResult(output)).toThrow('The verifier');
});

test('the command refuses what it does not know', async () => {
  for (const typed of ['nothing', '--fast']) await expect(runProgram(main, [typed])).rejects.toMatchObject({ code: 2 });
});

test('without a C compiler the command claims nothing, says what to install and leaves with 1', async () => {
  const started = runProgram(main, [], { env: { PATH: '/nowhere' } });
  await expect(started).rejects.toMatchObject({ code: 1, stdout: '' });
  await expect(started).rejects.toMatchObject({ stderr: expect.stringContaining('sudo apt-get install gcc') });
});
