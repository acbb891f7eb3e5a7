import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, UsageError } from '../failure.ts';
import { followStops } from './follow-stops.ts';

/** How a command ended, as its parent learns it. */
export type Ending = { code: number; signal?: undefined } | { signal: NodeJS.Signals };

/** A terminal sends these to the command as well. */
const ignored = ['SIGINT', 'SIGQUIT'] as const;
const forwarded = ['SIGTERM', 'SIGHUP'] as const;

const sameSignalMs = 500;

export interface Running {
  ended: Promise<Ending>;
  /** Aborted by any of these signals once the command has ended. */
  hurried: AbortSignal;
}

/**
 * Runs a command with our terminal, in our group of processes: so Ctrl-C and Ctrl-Z of a terminal reach it as they reach
 * us. From here on signals end this process no more.
 */
export function runCommand([file = '', ...args]: readonly string[], env: Record<string, string>): Running {
  const hurry = new AbortController();
  let child: ChildProcess | undefined;
  let isOver = false;
  const pass = (name: NodeJS.Signals, act: () => void) => process.on(name, () => (isOver ? hurry.abort() : act()));
  // Before the command starts, because it may do something at once that makes somebody send a signal.
  for (const name of ignored) pass(name, () => undefined);
  for (const name of forwarded) pass(name, () => void child?.kill(name));
  const started = spawn(file, args, { env, stdio: 'inherit' });
  child = started;
  const stopFollowing = started.pid === undefined ? undefined : followStops(started.pid);
  const ended = new Promise<Ending>((resolve, reject) => {
    started.once('error', (error) => reject(new CommandNotStarted(codeOf(error))));
    started.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
  }).finally(() => {
    stopFollowing?.();
    // A signal that ended the command was sent to us, too, and may be heard only now.
    setTimeout(() => (isOver = true), sameSignalMs).unref();
  });
  return { ended, hurried: hurry.signal };
}

/** The exit codes of shells for a command that was not found, or could not be run. */
export class CommandNotStarted extends UsageError {
  readonly exitCode: number;

  constructor(code = 'no code') {
    const isMissing = code === 'ENOENT';
    super(isMissing ? 'The command was not found' : `The command could not be started (${code})`);
    this.exitCode = isMissing ? 127 : 126;
  }
}

/**
 * Ends this process as the command ended, so that whoever started it learns the same. @returns the exit code, for what is
 * no signal and for signals that do not end a process of Node.
 */
export async function endLike(ending: Ending): Promise<number> {
  if (ending.signal === undefined) return ending.code;
  const { signal } = ending;
  // Listeners, and what Node ignores, such as SIGPIPE, would keep this process alive.
  process.removeAllListeners(signal);
  if (signal !== 'SIGKILL' && signal !== 'SIGSTOP') process.on(signal, () => undefined).removeAllListeners(signal);
  process.kill(process.pid, signal);
  await delay(1000);
  return 128 + constants.signals[signal];
}
