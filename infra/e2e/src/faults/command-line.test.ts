import { UsageError } from '@sluice/service-runtime/command-line';
import { help, list, readCommandLine } from './command-line.ts';
import { type FaultTest, Report } from './fault-test.ts';

const named = (name: string): FaultTest => ({
  name,
  description: `what ${name} does`,
  run: async () => undefined,
});
const tests = [named('one'), named('two')];

test('all run where none is named, else those that are', () => {
  expect(readCommandLine([], tests)).toMatchObject({ mode: 'run', chosen: tests, keep: false });
  expect(readCommandLine(['two', '--seed', '7', '--keep'], tests)).toEqual({
    mode: 'run',
    chosen: [tests[1]],
    seed: 7,
    keep: true,
  });
});

test('the names are listed, alone and in the help', () => {
  expect(readCommandLine(['--list'], tests).mode).toBe('list');
  expect(readCommandLine(['-h'], tests).mode).toBe('help');
  for (const text of [list(tests), help(tests)]) expect(text).toContain('two                      what two does');
});

test.each([['three'], ['--seed', 'x'], ['--seed', '-1'], ['--seed', '2147483648'], ['--what']])(
  '"%s" is refused',
  (...args) => {
    expect(() => readCommandLine(args, tests)).toThrow(UsageError);
  },
);

test('a report shows figures, and failures where there are any', () => {
  const report = new Report();
  report.figure('stale accepts S', 0);
  report.failIf(false, 'it went well');
  expect(report.describe(named('one'))).toMatch(/one: what one does\n {2}stale accepts S {2}0\n {2}passed/);
  report.failIf(true, 'it broke');
  report.failForEach([1, 2, 3, 4], (number) => `failure ${number}`);
  expect(report.describe(named('one'))).toContain('FAILED\n  it broke\n  failure 1\n  failure 2\n  failure 3\n');
  expect(report.failures).toHaveLength(4);
});
