import { openStoresFolder, readSeed, useStack } from '@sluice/testing';
import { startPlatform } from '../platform.ts';
import { sweepIntervalMs } from '../under-load/expiring.ts';
import { usualProcesses } from '../under-load/world.ts';
import { failuresOfRun } from './fault-test.ts';
import { unnoticed } from './processes.fault.ts';
import { faultTests } from './table.ts';

/** The fault tests that npm run test:system runs, beside a shorter revocation: one for each store, and two for processes. */
const quick = ['redis-frozen', 'postgres-terminated', 'rolling-restart', 'usage'];

/** With what each of them asks for. */
const site = useStack(async (closing) => {
  const environment = { ...unnoticed.environment, SWEEP_INTERVAL_MS: String(sweepIntervalMs) };
  const directory = await openStoresFolder(closing, 'quick');
  const seed = readSeed(process.env.SEED);
  return await startPlatform(closing, {
    directory,
    seed,
    environment,
    log: () => undefined,
    processes: usualProcesses,
  });
});

test.each(quick)('%s', async (name) => {
  const found = faultTests.find((one) => one.name === name);
  if (!found) throw new Error(`There is no fault test ${name}`);
  expect(await failuresOfRun(found, site.current)).toEqual([]);
});

test('each fault test has a name of its own', () => {
  expect(new Set(faultTests.map(({ name }) => name)).size).toBe(faultTests.length);
});
