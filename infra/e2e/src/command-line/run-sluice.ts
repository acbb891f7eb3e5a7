import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** Where it starts. */
export const mainFile = resolve(import.meta.dirname, '../../../../packages/cli/src/main.ts');

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
}

/** Runs the command line as a process of its own. Its output is no terminal, so it is JSON. */
export async function runSluice(typed: string[], { env = {}, stdin = '', cwd }: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [mainFile, ...typed], { env, ...(cwd && { cwd }) });
  const ended = new Promise<number | null>((done) => child.on('close', done));
  // A command that refuses before it reads leaves its input unread.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
