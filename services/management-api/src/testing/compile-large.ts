import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openCompiler } from '../proxies/open-compiler.ts';
import { compilerConfigFrom } from './compiler-config.ts';

// Runs on one core beside endless loops, and prints whether the compiler accepts 256 KiB of code; with an argument,
// whether a compiler does that judges by so many milliseconds of the clock.
const loops = 11;
/** The loops end by themselves where this process is killed. */
const endlessLoop = 'const end = Date.now() + 60_000; while (Date.now() < end);';
const line = 'f(function (a, b) { if (a) return [b, { c: a ? 1 : `x` }]; });\n';
const code = line.repeat(Math.floor((256 * 1024) / line.length));

await using stack = new AsyncDisposableStack();
const [wallMs] = process.argv.slice(2);
const pool = openCompiler(compilerConfigFrom(), stack, wallMs === undefined ? undefined : Number(wallMs));
await pool.ready();
for (let i = 0; i < loops; i += 1) {
  const loop = spawn(process.execPath, ['-e', endlessLoop], { stdio: 'ignore' });
  stack.defer(() => void loop.kill('SIGKILL'));
  await once(loop, 'spawn');
}
const outcome = await pool.compile(code).then(
  (fault) => (fault ? fault.message : 'accepted'),
  (error: Error) => error.message,
);
process.stdout.write(outcome);
