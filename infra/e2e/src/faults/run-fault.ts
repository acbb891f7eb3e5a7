import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSeed } from './command-line.ts';
import type { FaultContext, FaultResult, FaultTest } from './fault-test.ts';

interface RunOptions extends Omit<FaultContext, 'directory'> {
  /** Whether the folder with the logs of all processes stays. */
  keep?: boolean;
}

/** Runs a fault test in a folder of its own. */
export async function runFault(test: FaultTest, { keep, ...context }: RunOptions): Promise<FaultResult> {
  const directory = await mkdtemp(join(tmpdir(), `sluice-${test.name}-`));
  try {
    return await test.run({ ...context, directory });
  } finally {
    if (keep) context.log(`logs are in ${directory}`);
    else await rm(directory, { recursive: true, force: true });
  }
}

/** The same for a test of jest: shows the figures, and gives the failures. `SEED` repeats the choices of a run. */
export async function failuresOfRun(test: FaultTest): Promise<string[]> {
  const result = await runFault(test, { seed: readSeed(process.env.SEED), log: () => undefined });
  process.stdout.write(report(test, result));
  return result.failures;
}

/** The result of a fault test, for people. */
export function report(
  { name, description }: Pick<FaultTest, 'name' | 'description'>,
  { figures, failures }: FaultResult,
): string {
  const width = Math.max(...figures.map(([figure]) => figure.length));
  return [
    '',
    `${name}: ${description}`,
    ...figures.map(([figure, value]) => `  ${figure.padEnd(width)}  ${value}`),
    ...(failures.length > 0 ? ['  FAILED', ...failures.map((failure) => `  ${failure}`)] : ['  passed']),
    '',
  ].join('\n');
}
