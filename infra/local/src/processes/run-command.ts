import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LaunchError } from '../launch-error.ts';
import type { ProcessUser } from './child.ts';
import type { Watchdog } from './watchdog.ts';

/** A command ends with the signal, and with this process. */
export interface Bounds {
  signal?: AbortSignal | undefined;
  watchdog?: Watchdog | undefined;
}

export interface CommandOptions extends Bounds {
  /** The whole environment, but for where compiled sources are cached; this process's own if absent. */
  env?: Record<string, string>;
  user?: ProcessUser;
  timeoutMs?: number;
}

const execute = promisify(execFile);

/**
 * Runs a command to its end.
 * @returns its standard output.
 * @throws {CommandError} when it could not be started, failed, or took longer than `timeoutMs` (180 s).
 */
export async function runCommand(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const { env, user = {}, timeoutMs = 180_000, signal, watchdog } = options;
  const { prefix = [], ...ids } = user;
  const [program = command, ...rest] = [...prefix, command, ...args];
  const { NODE_COMPILE_CACHE } = process.env;
  const running = execute(program, rest, {
    cwd: '/',
    timeout: timeoutMs,
    maxBuffer: 16 * 1024 * 1024,
    ...(env && { env: { ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env } }),
    ...(signal && { signal }),
    ...ids,
  });
  watchdog?.watch(running.child.pid, 'SIGTERM');
  try {
    return (await running).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    throw new CommandError(command, error);
  }
}

/** A failed command. The message ends with its standard error. */
export class CommandError extends LaunchError {
  /** Its exit code, or the system's reason (`ENOENT`) why it could not be started. */
  readonly code: string | number | undefined;

  constructor(command: string, cause: unknown) {
    const details = cause as { code?: string | number; stderr?: string; message?: string };
    super(`${command}: ${details.stderr?.trim() || details.message || 'failed'}`, { cause });
    this.name = 'CommandError';
    this.code = details.code;
  }
}
