import { runForTest } from '../run-for-test.ts';
import { faultTests } from './catalogue.ts';

jest.setTimeout(300_000);

/** Those of the fault tests that npm run test:system runs, beside a shorter revocation test: one each for the stores and for ours. */
const quick = ['redis-frozen', 'postgres-terminated', 'rolling-restart'];

test.each(quick)('%s', async (name) => {
  const found = faultTests.find((one) => one.name === name);
  if (!found) throw new Error(`There is no fault test ${name}`);
  const { failures } = await runForTest(name, (context) => found.run(context));
  expect(failures).toEqual([]);
});

test('each fault test has a name of its own', () => {
  expect(new Set(faultTests.map(({ name }) => name)).size).toBe(faultTests.length);
});
