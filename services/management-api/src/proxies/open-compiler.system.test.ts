import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../testing/compile-large.ts', import.meta.url));

async function compileOnBusyCore(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('taskset', ['-c', '0', process.execPath, script, ...args]);
  return stdout;
}

test('honest code is accepted on a busy machine, because it is judged by its processor time', async () => {
  expect(await compileOnBusyCore()).toBe('accepted');
});

test('the control: a compiler that judges by a fifth of a second of the clock refuses it there', async () => {
  expect(await compileOnBusyCore('200')).toMatch(/it took longer than 200 ms/);
});
