import { oneAfterAnother } from '../under-load/run.ts';
import { failuresOfRun } from './fault-test.ts';
import { processFaults } from './processes.fault.ts';
import { revocation } from './revocation.fault.ts';
import { storeFaults } from './stores.fault.ts';
import { faultTests } from './table.ts';
import { usage } from './usage.fault.ts';

/** One for each store, two for processes, and 1,000 regenerations. */
const quick = [
  ...storeFaults.filter(({ name }) => ['redis-frozen', 'postgres-terminated'].includes(name)),
  ...processFaults.filter(({ name }) => name === 'rolling-restart'),
  usage,
  revocation({ regenerations: 1000, quietMs: 2000, nemesisMs: 30_000, limitMs: 600_000 }),
];

test('under one load after another fault no revoked key is accepted, no valid one refused, and nothing acknowledged is lost', async () => {
  expect(quick).toHaveLength(5);
  const names = quick.map(({ name }) => name).join(', ');
  expect(await failuresOfRun(oneAfterAnother('quick', `one after another: ${names}`, quick))).toEqual([]);
});

test('each fault test has a name of its own', () => {
  expect(new Set(faultTests.map(({ name }) => name)).size).toBe(faultTests.length);
});
