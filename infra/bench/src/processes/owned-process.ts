import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';

export interface OwnedProcess extends AsyncDisposable {
  pid: number | undefined;
  child: ChildProcess;
}

export interface OwnedProcessOptions {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Receives stderr, and stdout unless it is read. */
  logFile: string;
  /** Whether the caller reads stdout. */
  readsOutput?: boolean;
  /** Whether the program does not end with its standard input. */
  isForeign?: boolean;
}

/** Runs a command and kills it when its own standard input closes. */
const guard = '"$@" & child=$!; read -r line; kill "$child"; wait "$child"';

const stopWithinMs = 5000;

/**
 * Starts a process that ends when this one does, even by `kill -9`, because it ends when its standard input closes.
 * Ctrl-C in the terminal does not reach it.
 */
export async function startOwned(options: OwnedProcessOptions): Promise<OwnedProcess> {
  const { logFile, env = {}, readsOutput = false, isForeign = false } = options;
  const command = isForeign ? 'sh' : options.command;
  const args = isForeign ? ['-c', guard, 'sh', options.command, ...options.args] : options.args;
  await using log = await open(logFile, 'w', 0o600);
  const stdio = ['pipe', readsOutput ? 'pipe' : log.fd, log.fd] as const;
  const child = spawn(command, args, { env, stdio: [...stdio], detached: true });
  child.stdin?.on('error', () => undefined); // it has ended already
  await once(child, 'spawn');
  return { pid: child.pid, child, [Symbol.asyncDispose]: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  child.stdin?.end();
  await once(child, 'exit');
  clearTimeout(timer);
}
