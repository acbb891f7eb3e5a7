import { runProgram } from '../run-program.ts';
import { Report } from './fault-test.ts';

test('a report shows figures, and failures where there are any', () => {
  const named = { name: 'one', description: 'what it does' };
  const report = new Report();
  report.figure('stale accepts S', 0);
  report.failIf(false, 'it went well');
  expect(report.describe(named)).toMatch(/one: what it does\n {2}stale accepts S {2}0\n {2}passed/);
  report.failIf(true, 'it broke');
  report.failForEach([1, 2, 3, 4], (number) => `failure ${number}`);
  expect(report.describe(named)).toContain('FAILED\n  it broke\n  failure 1\n  failure 2\n  failure 3\n');
  expect(report.failures).toHaveLength(4);
});

test('of several faults each has its name in the report', () => {
  const report = new Report();
  report.of('first').figure('recovery R', '0.10 s');
  report.of('second').failIf(true, 'it broke');
  report.of('second').failForEach([1], (number) => `failure ${number}`);
  expect(report.figures).toEqual([['first: recovery R', '0.10 s']]);
  expect(report.failures).toEqual(['second: it broke', 'second: failure 1']);
});

test('a name that is none is refused, and nothing runs', async () => {
  await expect(runProgram('infra/e2e/src/faults/main.ts', ['three'])).rejects.toMatchObject({ code: 2, stdout: '' });
});
