import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchError, libraryPath, unpackDebianPackages } from '@sluice/local';
import { ModelError, runProgram } from './run-program.ts';

/** The programs that a check needs, as they were found to run. */
export interface Tools {
  spin: Program;
  compiler: Program;
}

export interface Program {
  command: string;
  /** Its whole environment. */
  env: Record<string, string>;
  /** As it says itself. */
  version: string;
}

export interface ToolOptions {
  /** `PATH`. */
  path: string;
  /** Where what was downloaded is kept. */
  downloads: string;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** @throws {ModelError} where one is missing and cannot be had, with the command that installs it. */
export async function findTools(options: ToolOptions): Promise<Tools> {
  const compiler = await findCompiler(options);
  return { compiler, spin: await findSpin(options) };
}

async function findCompiler({ path, signal }: ToolOptions): Promise<Program> {
  for (const command of ['gcc', 'cc', 'clang']) {
    const version = await versionOf({ command, env: { PATH: path } }, '--version', signal);
    if (version) return { command, env: { PATH: path }, version };
  }
  throw new ModelError(
    'No check was run: there is no C compiler (gcc, cc or clang) on the PATH.\nInstall one: sudo apt-get install gcc libc6-dev',
  );
}

async function findSpin({ path, downloads, log, signal }: ToolOptions): Promise<Program> {
  const installed = await asSpin({ command: 'spin', env: { PATH: path } }, signal);
  if (installed) return installed;
  try {
    const onDownload = () => log('Downloading spin (once)');
    const root = await unpackDebianPackages({ packages: ['spin'], directory: downloads, onDownload, signal });
    const env = { PATH: path, LD_LIBRARY_PATH: await libraryPath(root) };
    const unpacked = await asSpin({ command: join(root, 'usr', 'bin', 'spin'), env }, signal);
    if (unpacked) return unpacked;
    throw new ModelError(`No check was run: the spin in ${root} does not run here; delete that folder and try again.`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LaunchError)) throw error;
    throw new ModelError(
      `No check was run: spin is missing and could not be downloaded (${error.message.split('\n')[0]}).\nInstall it: sudo apt-get install spin`,
      { cause: error },
    );
  }
}

/** There is another program of that name. */
async function asSpin(program: Omit<Program, 'version'>, signal: AbortSignal): Promise<Program | undefined> {
  const version = await versionOf(program, '-V', signal);
  return version?.startsWith('Spin Version 6') ? { ...program, version } : undefined;
}

async function versionOf(
  { command, env }: Omit<Program, 'version'>,
  option: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { code, output } = await runProgram(command, [option], { cwd: tmpdir(), env, signal });
    return code === 0 ? output.trim().split('\n')[0] : undefined;
  } catch (error) {
    if (error instanceof ModelError) return undefined; // it is not there
    throw error;
  }
}
