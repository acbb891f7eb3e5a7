import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
}

export interface Ended {
  code: number;
  /** What it wrote to stdout and stderr. */
  output: string;
}

/** Something about the model or the tools is not as it should be; the message says what. */
export class ModelError extends Error {}

/**
 * Runs a program to its end. It has a process group of its own, so that Ctrl-C reaches it through the signal only.
 * @throws {ModelError} when it could not be started or was killed; the signal's reason when that came first.
 */
export async function runProgram(command: string, args: string[], { cwd, env, signal }: RunOptions): Promise<Ended> {
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
  };
  signal.addEventListener('abort', stop);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', (cause) =>
    reject(new ModelError(`${command} could not be started: ${cause.message}`, { cause })),
  );
  child.once('close', (code, killedBy) => {
    if (code === null) reject(new ModelError(`${command} was ended by ${killedBy}`));
    else resolve(code);
  });
  try {
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, output: stdout + stderr };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has just ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
