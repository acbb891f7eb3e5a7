import { isFullRun } from '@sluice/testing';
import { oneAfterAnother } from '../under-load/run.ts';
import { failuresOfRun } from './fault-test.ts';
import { processFaults } from './processes.fault.ts';
import { revocation } from './revocation.fault.ts';
import { storeFaults } from './stores.fault.ts';
import { faultTests } from './table.ts';
import { usage } from './usage.fault.ts';

/** Faults take time, and a slow machine needs three times as much of it. */
const mostMs = 2_400_000;

/** One for each store, two for processes, and 1,000 regenerations in the full run, 300 for a change. */
const quick = [
  ...storeFaults.filter(({ name }) => ['redis-frozen', 'postgres-terminated'].includes(name)),
  ...processFaults.filter(({ name }) => name === 'rolling-restart'),
  usage,
  revocation({ regenerations: isFullRun ? 1000 : 300, quietMs: 2000, nemesisMs: 30_000, limitMs: mostMs / 2 }),
];

test(
  'under one load after another fault no revoked key is accepted, no valid one refused, and nothing acknowledged is lost',
  async () => {
    expect(quick).toHaveLength(5);
    const names = quick.map(({ name }) => name).join(', ');
    expect(await failuresOfRun(oneAfterAnother('quick', `one after another: ${names}`, quick))).toEqual([]);
  },
  mostMs,
);

test('each fault test has a name of its own', () => {
  expect(new Set(faultTests.map(({ name }) => name)).size).toBe(faultTests.length);
});
