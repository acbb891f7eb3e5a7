import { UsageError } from '@sluice/service-runtime/command-line';
import { checks, readCommandLine } from '../model/checks.ts';
import { describe as describeOutcome, isAsExpected, readSteps, showSteps, table } from '../model/outcome.ts';
import { ModelError, readSearchResult } from '../model/spin.ts';
import { runProgram } from './run-program.ts';

const main = 'infra/e2e/model/main.ts';

/** What the verifier of spin 6.5.2 writes, without the lines that nobody reads. */
const whole = `
(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+

State-vector 60 byte, depth reached 28531, errors: 0
   116342 states, stored
  1351172 states, matched
  1467514 transitions (= stored+matched)

Stats on memory usage (in Megabytes):
    8.876	equivalent memory usage for states (stored*(State-vector + overhead))
    6.569	actual memory usage for states (compression: 74.00%)
   62.761	total actual memory usage

pan: elapsed time 1.92 seconds
`;
const violated = `pan:1: assertion violated 0 (at depth 8)
pan: wrote lease-protocol.pml.trail

(Spin Version 6.5.2 -- 6 December 2019)
Warning: Search not completed
${whole.split('2019)')[1]?.replace('errors: 0', 'errors: 1')}`;

test('a search of all states that finds nothing is a result', () => {
  const expected = { isViolated: false, states: 116_342, seconds: 1.92, memoryMb: 62.761 };
  expect(readSearchResult(whole)).toEqual(expected);
});

test('a violated assertion is a result, although the search ends there', () => {
  expect(readSearchResult(violated).isViolated).toBe(true);
});

test('large counts are read as spin writes them', () => {
  expect(readSearchResult(whole.replace('   116342 states, stored', '1.4513085e+08 states, stored')).states).toBe(
    145_130_850,
  );
});

test.each([
  ['it was not deep enough', `error: max search depth too small\n${whole}`],
  ['memory ran out', whole.replace('Full', 'Warning: Search not completed\n\nFull')],
  ['states were not stored whole', whole.replace('Full statespace search', 'Bit statespace search')],
  ['the error is another one', whole.replace('errors: 0', 'errors: 1')],
  ['it was cut short', whole.slice(0, 300)],
  ['it said nothing', ''],
])('a search is no result where %s', (_, output) => {
  expect(() => readSearchResult(output)).toThrow(ModelError);
});

test('the steps of a counter-example are told by what the model prints, with the time at which they were taken', () => {
  const steps = readSteps(`@ holder 1: sends a registration
      @ time passes
          @ database: inserts the row of holder 1, which expires in 2; its mailbox names 0 changes
spin: holder.pml:174, Error: assertion violated
#processes: 4
		row[0].exists = 1`);
  expect(steps).toEqual([
    { tick: 0, who: 'holder 1', what: 'sends a registration' },
    { tick: 1, who: 'database', what: 'inserts the row of holder 1, which expires in 2; its mailbox names 0 changes' },
  ]);
  expect(showSteps(steps).split('\n')[0]).toBe('     1  tick 0  holder 1  sends a registration');
});

test('a part that can be taken away without harm is reported, and so is a protocol that is not safe', () => {
  const [protocol, weakened] = [true, false].map((mustHold) => ({ name: 'x', what: 'x', mustHold, switches: [] }));
  if (!protocol || !weakened) throw new Error('two checks');
  const holds = { isViolated: false, states: 1_500_000, seconds: 2.25, memoryMb: 60, steps: [] };
  const isViolated = { ...holds, isViolated: true, steps: [{ tick: 0, who: 'writer 1', what: 'ANSWERS' }] };
  expect(isAsExpected(protocol, holds)).toBe(true);
  expect(isAsExpected(protocol, isViolated)).toBe(false);
  expect(isAsExpected(weakened, holds)).toBe(false);
  expect(isAsExpected(weakened, isViolated)).toBe(true);
  expect(describeOutcome(weakened, holds)).toContain('holds NOT AS EXPECTED: 1,500,000 states stored');
  expect(describeOutcome(weakened, isViolated)).toContain('tick 0  writer 1  ANSWERS');
  expect(table([{ check: protocol, outcome: isViolated }])).toMatch(/x +violated +NOT AS EXPECTED +1,500,000 +2.3/);
});

test('checks are chosen by name; what does not exist is said', () => {
  const names = (args: string[]) => readCommandLine(args).chosen.map(({ name }) => name);
  expect(names([])).toHaveLength(checks.length);
  expect(names(['--only', 'delete', '--only', 'barrier'])).toEqual(['barrier', 'delete']);
  expect(readCommandLine(['--quick']).isQuick).toBe(true);
  expect(() => names(['--only', 'nothing'])).toThrow(UsageError);
  expect(() => names(['--fast'])).toThrow(UsageError);
});

test('the command answers --help without any tool', async () => {
  const { stdout } = await runProgram(main, ['--help']);
  for (const { name } of checks) expect(stdout).toContain(name);
});

test('without a C compiler the command claims nothing, says what to install and leaves with 1', async () => {
  const started = runProgram(main, [], { env: { PATH: '/nowhere' } });
  await expect(started).rejects.toMatchObject({ code: 1, stdout: '' });
  await expect(started).rejects.toMatchObject({ stderr: expect.stringContaining('sudo apt-get install gcc') });
});
