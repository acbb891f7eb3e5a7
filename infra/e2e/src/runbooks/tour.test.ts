import { chmod, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, repositoryRoot } from '@sluice/local/parts';
import { openStoresFolder } from '@sluice/testing';
import { type Block, readBlocks } from './read-blocks.ts';
import { runBlocks } from './run-blocks.ts';

const readme = await readFile(join(repositoryRoot, 'README.md'), 'utf8');

const step = (script: string, expected: string[] = []): Block => ({ line: 0, script, expected });

/** The tour with free ports in the place of its own. */
async function onFreePort(tour: Block): Promise<Block> {
  const port = await freePort();
  expect(tour.script).toContain('URL=http://127.0.0.1:8080\n');
  expect(tour.script.match(/\b7000\b/g)).toHaveLength(2);
  const script = tour.script.replace('http://127.0.0.1:8080', '$BASE_URL').replaceAll('7000', String(port));
  return { ...tour, script };
}

// npm ci is run by whoever tests a fresh clone.
test('the commands and the program of the README do what it says, and one that does not is noticed', async () => {
  const [start, tour, sessions, program, ...others] = readBlocks(readme);
  if (!start || !tour || !sessions || !program) throw new Error('The README has other blocks');
  expect(others).toEqual([]);
  const [first = '', second = ''] = start.script.split('\n').map((line) => line.split('#')[0]?.trim());
  expect(first).toMatch(/^npm ci && /);
  const damaged = await onFreePort(tour);
  await using closing = new AsyncDisposableStack();
  const directory = await openStoresFolder(closing, 'tour');
  await chmod(directory, 0o711);
  await mkdir(join(directory, 'run'));
  await symlink(join(repositoryRoot, 'node_modules'), join(directory, 'node_modules'));
  const blocks = [
    step(`(cd '${repositoryRoot}' && PORT=0 ${first.replace('npm ci && ', '')}) > start.log 2>&1 &
until grep -q 'Base URL' start.log; do sleep 0.2; kill -0 $!; done
BASE_URL=$(sed -n 's/.*Base URL *//p' start.log)`),
    step(`(cd '${repositoryRoot}' && ${second})`, ['…What the destination received…', '…4242424242424242…']),
    await onFreePort(tour),
    sessions,
    program,
    { ...damaged, line: 1, script: damaged.script.replaceAll('{{ $TOKEN }}', '$TOKEN') },
  ];
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NO_COLOR: '1', SLUICE_DIR: join(directory, '.sluice') };
  const faults = await runBlocks(blocks, {
    directory: join(directory, 'run'),
    cwd: directory,
    env,
    timeoutMs: 600_000,
  });
  const revealed = '{"card":{"number":"4242424242424242"}}';
  const expected = [tour, sessions, program].map((block) => block.expected);
  expect(expected).toEqual([[revealed], ['204', revealed], [revealed]]);
  expect(faults).toEqual([expect.stringMatching(/^the block of line 1 did not print \{"card"/)]);
});
