import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const mainFile = resolve(import.meta.dirname, '../main.ts');

type Turn = readonly [shown: string, keyStrokes: string];

interface Options {
  env?: Record<string, string>;
  cwd?: string;
  command?: readonly string[];
}

/** On a pseudo-terminal, which echoes and signals like a real one. */
export async function typeAtTerminal(typed: readonly string[], turns: readonly Turn[] = [], options: Options = {}) {
  const { env = {}, cwd, command = [process.execPath, mainFile] } = options;
  const line = [...command, ...typed].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
    ...(cwd && { cwd }),
    // A hanging command is killed, and its exit code fails the test.
    timeout: 120_000,
  });
  let screen = '';
  const due = [...turns];
  let from = 0;
  child.stdout.on('data', (chunk) => {
    screen += chunk;
    const [turn] = due;
    if (!turn || !screen.includes(turn[0], from)) return;
    due.shift();
    from = screen.length;
    child.stdin.write(turn[1]);
  });
  const [code] = await once(child, 'close');
  return { code: code as number, screen: screen.replaceAll('\r\n', '\n'), unasked: due.map(([shown]) => shown) };
}
