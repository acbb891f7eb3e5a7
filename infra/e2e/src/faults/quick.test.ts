import { failuresOfRun } from './fault-test.ts';
import { faultTests } from './table.ts';

/** The fault tests that npm run test:system runs, beside a shorter revocation: one each for the stores and for ours. */
const quick = ['redis-frozen', 'postgres-terminated', 'rolling-restart'];

test.each(quick)('%s', async (name) => {
  const found = faultTests.find((one) => one.name === name);
  if (!found) throw new Error(`There is no fault test ${name}`);
  expect(await failuresOfRun(found)).toEqual([]);
});

test('each fault test has a name of its own', () => {
  expect(new Set(faultTests.map(({ name }) => name)).size).toBe(faultTests.length);
});
