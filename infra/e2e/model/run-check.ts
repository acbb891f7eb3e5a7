import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from './checks.ts';
import { readSteps, type Step } from './counter-example.ts';
import { ModelError, type RunOptions, runProgram } from './run-program.ts';
import { readSearchResult, type SearchResult } from './search-result.ts';
import type { Program, Tools } from './tools.ts';

const model = 'lease-protocol.pml';
const memoryLimitMb = 4096;

export interface CheckOptions {
  tools: Tools;
  isQuick: boolean;
  /** A temporary folder. */
  directory: string;
  signal: AbortSignal;
}

export interface Outcome extends SearchResult {
  /** Of the counter-example; empty if there is none. */
  steps: Step[];
}

/**
 * Searches all states that the model can reach with a check's switches: states are stored whole and the order of steps
 * is not reduced. Breadth first where a counter-example is expected, so that it is a shortest one; depth first
 * otherwise, which takes half the time.
 * @throws {ModelError} where there is no result.
 */
export async function runCheck(check: Check, { tools, isQuick, directory, signal }: CheckOptions): Promise<Outcome> {
  const { spin, compiler } = tools;
  const cwd = join(directory, check.name);
  await copyModel(cwd);
  const switches = ((isQuick && check.quickSwitches) || check.switches).map((name) => `-D${name}`);
  const preprocessor = `-P${compiler.command} -std=gnu99 -E -x c`;
  const search = check.mustHold ? [] : ['-DBFS'];
  const compile = ['-O2', '-w', '-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${memoryLimitMb}`, ...search, '-o', 'pan', 'pan.c'];

  await succeed(spin, [preprocessor, ...switches, '-a', model], { cwd, signal });
  await succeed(compiler, compile, { cwd, signal });
  const { output } = await runProgram('./pan', ['-m4000000', '-w23'], { cwd, env: {}, signal });
  const result = readSearchResult(output);
  if (!result.isViolated) return { ...result, steps: [] };
  const trail = [preprocessor, ...switches, '-t', '-T', '-k', `${model}.trail`, model];
  return { ...result, steps: readSteps(await succeed(spin, trail, { cwd, signal })) };
}

async function copyModel(directory: string): Promise<void> {
  await mkdir(directory);
  const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.pml'));
  for (const name of files) await cp(join(import.meta.dirname, name), join(directory, name));
}

async function succeed(program: Program, args: string[], options: Omit<RunOptions, 'env'>): Promise<string> {
  const { code, output } = await runProgram(program.command, args, { ...options, env: program.env });
  if (code !== 0) throw new ModelError(`${program.command} ended with code ${code}:\n${output.trim()}`);
  return output;
}
