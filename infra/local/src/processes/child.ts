import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Watchdog } from './watchdog.ts';

/** Another user for a process: ids, or a command prefix that switches to the user. */
export interface ProcessUser {
  prefix?: string[];
  uid?: number;
  gid?: number;
}

export interface LoggedProcess {
  command: string;
  args: string[];
  /** The whole environment. */
  env: Record<string, string>;
  /** Receives stdout and stderr; emptied first, readable only by the owner. */
  logFile: string;
  /** The signal with which the watchdog asks it to stop. */
  stopSignal: NodeJS.Signals;
  user?: ProcessUser;
}

/**
 * Starts a process in a session of its own, so that Ctrl-C in the terminal reaches only the launcher, which then stops
 * processes in order. Its output goes to a file; its standard input is a pipe from this process. It does not keep this
 * process alive.
 */
export async function startLogged(logged: LoggedProcess, watchdog: Watchdog): Promise<ChildProcess> {
  const { command, args, env, logFile, stopSignal, user = {} } = logged;
  const { prefix = [], ...ids } = user;
  const [program = command, ...rest] = [...prefix, command, ...args];
  await using log = await open(logFile, 'w', 0o600);
  const child = spawn(program, rest, { cwd: '/', env, detached: true, stdio: ['pipe', log.fd, log.fd], ...ids });
  child.stdin?.on('error', () => undefined); // nothing is ever written; the other end may close it
  watchdog.watch(child.pid, stopSignal);
  await once(child, 'spawn');
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export async function untilEnded(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}

/** Signals the process, and kills it if it has not ended by the deadline. */
export async function stopChild(child: ChildProcess, signal: NodeJS.Signals, deadlineMs = 10_000): Promise<void> {
  if (hasEnded(child)) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  child.kill(signal);
  await untilEnded(child);
  clearTimeout(timer);
}

/** How it ended, in words: "exit code 1", "SIGKILL". */
export function describeEnd(child: ChildProcess): string {
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** The last lines of a log, indented for display below a message. */
export async function lastLines(logFile: string, count = 10): Promise<string> {
  const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-count);
  return lines.map((line) => `    ${line}`).join('\n');
}
