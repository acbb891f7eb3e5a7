import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSeed } from './faults/command-line.ts';
import type { FaultContext, FaultResult } from './faults/fault-test.ts';
import { report } from './faults/report.ts';

/** Runs a fault test, in a folder that is gone afterwards; `SEED` repeats the choices of a run. Shows its figures. */
export async function runForTest(
  name: string,
  run: (context: FaultContext) => Promise<FaultResult>,
): Promise<FaultResult> {
  const directory = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  try {
    const result = await run({ directory, seed: readSeed(process.env.SEED), log: () => undefined });
    process.stdout.write(report({ name, description: '' }, result));
    return result;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
