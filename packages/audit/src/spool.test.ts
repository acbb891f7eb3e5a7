import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files of the process cannot grow beyond this, as on a full disk. */
const mostKiB = 2;

test('rows that fit only in part are refused together, and none of them stays', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const script = `
    import { openSpool } from './spool.ts';
    const spool = openSpool({ directory: ${JSON.stringify(directory)}, onError: (error) => { throw error; } });
    const row = (name) => JSON.stringify({ id: name.repeat(700) });
    spool.append([row('a')]);
    try {
      spool.append([row('b'), row('c'), row('d')]);
    } catch (error) {
      console.log(error.message);
    }
    spool.append([row('e')]);`;
  const node = [process.execPath, '--input-type=module-typescript', '--eval', script];
  const limited = `trap '' XFSZ; ulimit -f ${mostKiB}; exec "$@"`;
  const { stdout } = await run('bash', ['-c', limited, 'bash', ...node], { cwd: import.meta.dirname });
  expect(stdout).toContain('Only a part could be written');
  const [name = ''] = await readdir(directory);
  const lines = (await readFile(join(directory, name), 'utf8')).split('\n').filter(Boolean);
  expect(lines.map((line) => JSON.parse(line).id[0])).toEqual(['a', 'e']);
});
