import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { describe, isAsExpected, table } from './report.ts';
import { type Outcome, runCheck } from './run-check.ts';
import { findTools } from './tools.ts';

const downloads = join(import.meta.dirname, '..', '..', '..', '.sluice', 'downloads');

export interface RunModelOptions extends Omit<CommandLine, 'isHelp'> {
  /** Where programs are looked for. */
  path: string;
  signal: AbortSignal;
}

/**
 * Runs the chosen checks one after the other and prints what they find.
 * @returns whether all came out as they must.
 * @throws {ModelError} where one gave no result.
 */
export async function run({ chosen, isQuick, path, signal }: RunModelOptions): Promise<boolean> {
  const log = console.log;
  const tools = await findTools({ path, downloads, log, signal });
  log(`${tools.spin.version}; ${tools.compiler.version}`);
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'sluice-model-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const results: { check: Check; outcome: Outcome }[] = [];
  for (const check of chosen) {
    log(`\n${check.name}: ${check.what}`);
    const outcome = await runCheck(check, { tools, isQuick, directory, signal });
    log(describe(check, outcome));
    results.push({ check, outcome });
  }
  log(`\n${table(results)}`);
  return results.every(({ check, outcome }) => isAsExpected(check, outcome));
}
