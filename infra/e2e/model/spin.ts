import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, LaunchError, type Program } from '@sluice/local';
import type { Check } from './checks.ts';
import { type Outcome, readSteps } from './outcome.ts';

/** Something about the model or the tools is not as it should be; the message says what. */
export class ModelError extends Error {}

export interface Tools {
  spin: Program;
  compiler: Program;
}

/** Runs a program to its end. @throws {ModelError} where it cannot be started or is killed. */
async function run({ command, env }: Program, args: string[], options: { cwd: string; signal: AbortSignal }) {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { ...options, env, maxBuffer: 2 ** 28 });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    options.signal.throwIfAborted();
    const { code, stdout, stderr, message } = error as Error & { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw new ModelError(`${command}: ${message}`, { cause: error });
    return { code, output: stdout + stderr };
  }
}

async function succeed(program: Program, args: string[], options: { cwd: string; signal: AbortSignal }) {
  const { code, output } = await run(program, args, options);
  if (code !== 0) throw new ModelError(`${program.command} ended with code ${code}:\n${output.trim()}`);
  return output;
}

/** What it says of its version; undefined where it does not run. */
async function versionOf(program: Program, option: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await succeed(program, [option], { cwd: tmpdir(), signal })).trim().split('\n')[0];
  } catch (error) {
    if (error instanceof ModelError) return undefined;
    throw error;
  }
}

/** @throws {ModelError} where one is missing and cannot be had, with the command that installs it. */
export async function findTools(path: string, log: (line: string) => void, signal: AbortSignal): Promise<Tools> {
  for (const command of ['gcc', 'cc', 'clang']) {
    const compiler = { command, env: { PATH: path } };
    const version = await versionOf(compiler, '--version', signal);
    if (version === undefined) continue;
    const spin = await findSpin(path, log, signal);
    log(`${await versionOf(spin, '-V', signal)}; ${version}`);
    return { compiler, spin };
  }
  throw new ModelError(
    'No check was run: there is no C compiler (gcc, cc or clang) on the PATH.\nInstall one: sudo apt-get install gcc libc6-dev',
  );
}

async function findSpin(path: string, log: (line: string) => void, signal: AbortSignal): Promise<Program> {
  const onDownload = () => log('Downloading spin (once)');
  try {
    // Another program of that name may be on the PATH.
    for (const searched of [path, '']) {
      const { command, env } = await findProgram('spin', { path: searched, packages: ['spin'], onDownload, signal });
      const spin = { command, env: { ...env, PATH: path } };
      if ((await versionOf(spin, '-V', signal))?.startsWith('Spin Version 6')) return spin;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LaunchError)) throw error;
    throw new ModelError(
      `No check was run: spin is missing and could not be downloaded (${error.message.split('\n')[0]}).\nInstall it: sudo apt-get install spin`,
      { cause: error },
    );
  }
  throw new ModelError(
    'No check was run: the spin under .sluice/downloads does not run here; delete it and try again.',
  );
}

const sources = ['lease-protocol.pml', 'holder.pml', 'state.pml', 'writer.pml'];
const memoryLimitMb = 4096;

export interface CheckOptions {
  tools: Tools;
  isQuick: boolean;
  cwd: string;
  signal: AbortSignal;
}

/**
 * Searches all states that the model can reach with a check's switches: states are stored whole and the order of steps
 * is not reduced. Breadth first where a counter-example is expected, so that it is a shortest one; depth first
 * otherwise, which takes half the time.
 * @throws {ModelError} where there is no result.
 */
export async function runCheck(check: Check, { tools, isQuick, cwd, signal }: CheckOptions): Promise<Outcome> {
  const { spin, compiler } = tools;
  const [model = ''] = sources;
  for (const name of sources) await cp(join(import.meta.dirname, name), join(cwd, name));
  const switches = ((isQuick && check.quickSwitches) || check.switches).map((name) => `-D${name}`);
  const preprocessor = `-P${compiler.command} -std=gnu99 -E -x c`;
  const search = check.mustHold ? [] : ['-DBFS'];
  const compile = ['-O2', '-w', '-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${memoryLimitMb}`, ...search, '-o', 'pan', 'pan.c'];

  await succeed(spin, [preprocessor, ...switches, '-a', model], { cwd, signal });
  await succeed(compiler, compile, { cwd, signal });
  const { output } = await run({ command: './pan', env: {} }, ['-m4000000', '-w23'], { cwd, signal });
  const result = readSearchResult(output);
  if (!result.isViolated) return { ...result, steps: [] };
  const trail = [preprocessor, ...switches, '-t', '-T', '-k', `${model}.trail`, model];
  return { ...result, steps: readSteps(await succeed(spin, trail, { cwd, signal })) };
}

/**
 * Reads what spin's verifier wrote.
 * @throws {ModelError} where it says nothing, or did not look at every state and found no violation either: that is no
 * result.
 */
export function readSearchResult(output: string): Omit<Outcome, 'steps'> {
  const noResult = (what: string) => new ModelError(`The verifier ${what}:\n${output.trim()}`);
  const read = (pattern: RegExp) => Number(output.match(pattern)?.[1]);
  const errors = read(/errors: (\d+)/);
  const states = read(/^\s*(\S+) states, stored/m);
  const seconds = read(/elapsed time (\S+) seconds/);
  const memoryMb = read(/^\s*(\S+)\s+total actual memory usage/m);
  if ([errors, states, seconds, memoryMb].some(Number.isNaN)) throw noResult('said nothing that is a result');
  const isViolated = errors > 0;
  if (isViolated && !/assertion violated/.test(output)) throw noResult('found another error');
  const isWhole =
    /^Full statespace search/m.test(output) && !/Search not completed|search depth too small/.test(output);
  if (!isViolated && !isWhole) throw noResult('did not look at every state');
  return { isViolated, states, seconds, memoryMb };
}
