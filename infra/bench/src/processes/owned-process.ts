import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

export interface OwnedProcess extends AsyncDisposable {
  pid: number;
  child: ChildProcess;
}

export interface OwnedProcessOptions {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Receives stderr, and stdout unless it is read. */
  logFile: string;
  signal: AbortSignal;
  /** Whether the caller reads stdout. */
  readsOutput?: boolean;
  /** Whether the program does not end with its standard input. */
  isForeign?: boolean;
}

/** Runs a command, kills it when its own standard input closes, and ends when the command ends. */
const guard = `exec 3<&0; "$@" & child=$!
  { read -r line <&3; kill "$child"; } >/dev/null 2>&1 & reader=$!
  wait "$child"; code=$?; kill "$reader" 2>/dev/null; exit $code`;

/** A launcher stops its services and stores first. */
const stopWithinMs = 30_000;

/**
 * Starts a process that ends when this one does, even by `kill -9`, because it ends when its standard input closes.
 * Ctrl-C in the terminal does not reach it.
 */
export async function startOwned(options: OwnedProcessOptions): Promise<OwnedProcess> {
  const { logFile, env = {}, signal, readsOutput = false, isForeign = false } = options;
  signal.throwIfAborted();
  const command = isForeign ? 'sh' : options.command;
  const args = isForeign ? ['-c', guard, 'sh', options.command, ...options.args] : options.args;
  await using log = await open(logFile, 'w', 0o600);
  const stdio = ['pipe', readsOutput ? 'pipe' : log.fd, log.fd] as const;
  const child = spawn(command, args, { env, stdio: [...stdio], detached: true });
  child.stdin?.on('error', () => undefined); // it has ended already
  await once(child, 'spawn');
  return { pid: child.pid ?? 0, child, [Symbol.asyncDispose]: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  child.stdin?.end();
  await once(child, 'exit');
  clearTimeout(timer);
}

export interface ProgramOptions {
  /** A program of Node that prints lines, and ends with its standard input. */
  file: string;
  args?: string[];
  env?: Record<string, string>;
  logFile: string;
  signal: AbortSignal;
}

export interface OwnedProgram extends OwnedProcess {
  say(line: string): void;
  /** Closes its standard input. */
  hangUp(): void;
  /** The next line that it prints. @throws where none comes in time. */
  nextLine(timeoutMs?: number): Promise<string>;
}

/** Starts a program of this folder, with which one talks by lines. */
export async function startProgram({ file, args = [], signal, ...rest }: ProgramOptions): Promise<OwnedProgram> {
  const command = process.execPath;
  const started = await startOwned({ command, args: [file, ...args], readsOutput: true, signal, ...rest });
  const { stdin, stdout } = started.child;
  if (!stdin || !stdout) throw new Error('Standard input and output are not pipes');
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return {
    ...started,
    say: (line) => void stdin.write(`${line}\n`),
    hangUp: () => void stdin.end(),
    async nextLine(timeoutMs = 10_000) {
      const bounds = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const stopped = new Promise<never>((_, reject) => {
        bounds.addEventListener('abort', () => reject(bounds.reason), { once: true });
      });
      const line = await Promise.race([lines.next(), stopped]).catch((cause) => {
        signal.throwIfAborted();
        throw new Error(`${file} printed nothing in time; see ${rest.logFile}`, { cause });
      });
      if (line.done) throw new Error(`${file} ended; see ${rest.logFile}`);
      return line.value;
    },
  };
}

/** Starts a program that prints its port when it listens. */
export async function startListening(options: ProgramOptions): Promise<OwnedProcess & { url: string }> {
  const started = await startProgram(options);
  try {
    return { ...started, url: `http://127.0.0.1:${await started.nextLine()}` };
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
}
