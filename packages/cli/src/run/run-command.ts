import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, UsageError } from '../failure.ts';
import { followStops } from './follow-stops.ts';

/** How a command ended, as its parent learns it. */
export type Ending = { code: number; signal?: undefined } | { signal: NodeJS.Signals };

/** A terminal sends these to the command as well. */
const ignored = ['SIGINT', 'SIGQUIT'] as const;
/** Node itself would open its inspector on SIGUSR1, and end on SIGUSR2. */
const forwarded = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

const sameSignalMs = 500;

export interface Running {
  ended: Promise<Ending>;
  /** Aborted by any of these signals once the command has ended. */
  hurried: AbortSignal;
}

/**
 * Runs a command with our terminal, in our group of processes: so Ctrl-C and Ctrl-Z of a terminal reach it as they reach
 * us. From here on signals end this process no more. `ended` rejects only if the command did not start.
 */
export function runCommand(
  [file = '', ...args]: readonly string[],
  env: Record<string, string>,
  say: (text: string) => void,
): Running {
  const hurry = new AbortController();
  let child: ChildProcess | undefined;
  let isOver = false;
  const pass = (name: NodeJS.Signals, act: () => void) => process.on(name, () => (isOver ? hurry.abort() : act()));
  // Before the command starts, because it may do something at once that makes somebody send a signal.
  for (const name of ignored) pass(name, () => undefined);
  for (const name of forwarded) pass(name, () => void child?.kill(name));
  const wait = async () => {
    const started = spawnCommand(file, args, env);
    child = started;
    const stopFollowing = started.pid === undefined ? undefined : followStops(started.pid);
    try {
      return await endingOf(started, say);
    } finally {
      stopFollowing?.();
    }
  };
  const ended = wait().finally(() => {
    // A signal that ended the command was sent to us, too, and may be heard only now.
    setTimeout(() => (isOver = true), sameSignalMs).unref();
  });
  return { ended, hurried: hurry.signal };
}

function spawnCommand(file: string, args: string[], env: Record<string, string>): ChildProcess {
  // Shells do not find it, and Node calls it a wrong argument.
  if (file === '') throw new CommandNotStarted('ENOENT');
  try {
    return spawn(file, args, { env, stdio: 'inherit' });
  } catch (error) {
    // Node throws some failures, such as ENOTDIR and E2BIG, and tells others by an event.
    throw new CommandNotStarted(codeOf(error));
  }
}

function endingOf(child: ChildProcess, say: (text: string) => void): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      if (child.pid === undefined) reject(new CommandNotStarted(codeOf(error)));
      // It runs on: this process may not signal a command of another user, such as sudo.
      else say(`a signal could not be passed on to the command, which is still running: ${error.message}`);
    });
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
  });
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
