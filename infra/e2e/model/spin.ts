import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, LaunchError, type Program } from '@sluice/local';
import { openTemporaryFolder } from '@sluice/testing';
import type { Check } from './checks.ts';

const execute = promisify(execFile);
const sources = ['lease-protocol.pml', 'holder.pml', 'state.pml', 'writer.pml'];
const memoryLimitMb = 4096;

/** spin of the machine, or of Debian's package. @throws {LaunchError} where it, or a C compiler, cannot be had. */
async function findSpin(path: string, signal: AbortSignal): Promise<Program> {
  if (!(await isRunning({ command: 'cc', env: { PATH: path } }, '--version'))) {
    throw new LaunchError('There is no C compiler (cc) on the PATH');
  }
  // Another program of that name may be on the PATH.
  for (const searched of [path, '']) {
    const { command, env } = await findProgram('spin', { path: searched, packages: ['spin'], signal });
    const spin = { command, env: { ...env, PATH: path } };
    if (await isRunning(spin, '-V', /^Spin Version 6/)) return spin;
  }
  throw new LaunchError('The spin under .sluice/downloads does not run here; delete it and try again');
}

const isRunning = ({ command, env }: Program, option: string, answer = /./) =>
  execute(command, [option], { env }).then(
    ({ stdout }) => answer.test(stdout),
    () => false,
  );

interface RunOptions {
  isQuick: boolean;
  /** `PATH`, for spin and the compiler. */
  path: string;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Runs checks one after the other. @returns the names of those that did not come out as they must. */
export async function runChecks(checks: readonly Check[], { isQuick, path, signal, log }: RunOptions) {
  const spin = await findSpin(path, signal);
  await using opened = new AsyncDisposableStack();
  const folder = await openTemporaryFolder(opened, 'model');
  const surprises: string[] = [];
  for (const { name, what, mustHold, switches, quickSwitches } of checks) {
    log(`\n${name}: ${what}`);
    const cwd = join(folder, name);
    await mkdir(cwd);
    const chosen = (isQuick && quickSwitches) || switches;
    const { output, steps } = await search(chosen, { spin, isBreadthFirst: !mustHold, cwd, signal });
    const { isViolated, states, seconds } = readResult(output);
    log(`  ${isViolated ? 'violated' : 'holds'}: ${states.toLocaleString('en-US')} states stored, ${seconds} s`);
    for (const step of steps) log(`    ${step}`);
    if (isViolated === mustHold) surprises.push(name);
  }
  return surprises;
}

interface SearchOptions {
  spin: Program;
  /** So that a counter-example is a shortest one; depth first takes half the time. */
  isBreadthFirst: boolean;
  cwd: string;
  signal: AbortSignal;
}

/**
 * Searches all states that the model can reach: states are stored whole and the order of steps is not reduced.
 * @returns what the verifier wrote, and the steps of a counter-example as the model prints them, `who: what`.
 */
async function search(switches: readonly string[], { spin, isBreadthFirst, cwd, signal }: SearchOptions) {
  const options = { cwd, signal, env: spin.env, maxBuffer: 2 ** 28 };
  const defined = ['-Pcc -std=gnu99 -E -x c', ...switches.map((name) => `-D${name}`)];
  const [model = ''] = sources;
  for (const name of sources) await cp(join(import.meta.dirname, name), join(cwd, name));

  await execute(spin.command, [...defined, '-a', model], options);
  const compiled = ['-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${memoryLimitMb}`, ...(isBreadthFirst ? ['-DBFS'] : [])];
  await execute('cc', ['-O2', '-w', ...compiled, '-o', 'pan', 'pan.c'], options);
  const { stdout: output } = await execute('./pan', ['-m4000000', '-w23'], options).catch(
    (error: { code: unknown; stdout: string }) => {
      if (typeof error.code === 'number') return error; // what it wrote says why
      throw error;
    },
  );
  if (!/assertion violated/.test(output)) return { output, steps: [] };
  const { stdout } = await execute(spin.command, [...defined, '-t', '-T', '-k', `${model}.trail`, model], options);
  return { output, steps: Array.from(stdout.matchAll(/^\s*@ (.*)$/gm), ([, step = '']) => step) };
}

/**
 * Reads what spin's verifier wrote.
 * @throws {Error} where it says nothing, or did not look at every state and found no violation either: that is no result.
 */
export function readResult(output: string): { isViolated: boolean; states: number; seconds: number } {
  const noResult = (what: string) => new Error(`The verifier ${what}:\n${output.trim()}`);
  const read = (pattern: RegExp) => Number(output.match(pattern)?.[1]);
  const errors = read(/errors: (\d+)/);
  const states = read(/^\s*(\S+) states, stored/m);
  const seconds = read(/elapsed time (\S+) seconds/);
  if ([errors, states, seconds].some(Number.isNaN)) throw noResult('said nothing that is a result');
  const isViolated = errors > 0;
  if (isViolated && !/assertion violated/.test(output)) throw noResult('found another error');
  const isCutShort = /Search not completed|search depth too small/.test(output);
  const isWhole = /^Full statespace search/m.test(output) && !isCutShort;
  if (!isViolated && !isWhole) throw noResult('did not look at every state');
  return { isViolated, states, seconds };
}
