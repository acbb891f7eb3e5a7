#!/usr/bin/env node
import { run } from './cli.ts';
import { Interrupted } from './failure.ts';
import { onFirstSignal } from './first-signal.ts';

const interrupted = new AbortController();
onFirstSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], (name) => interrupted.abort(new Interrupted(name)));
// Without a listener Node opens its inspector, to which everybody on this machine may connect, in a process that has keys.
process.on('SIGUSR1', () => undefined);
// A reader that has read enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: interrupted.signal });
