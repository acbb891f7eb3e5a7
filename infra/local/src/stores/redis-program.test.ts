import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

test('where Redis is neither installed nor to be downloaded, one message says what to do', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'sluice-downloads-'));
  // In a process of its own, because commands are looked up on the PATH with which a process started.
  const script = `
    import { findRedisProgram } from ${JSON.stringify(join(import.meta.dirname, 'redis-program.ts'))};
    await findRedisProgram({ downloads: ${JSON.stringify(empty)}, log: () => {} }).catch((error) => console.log(error.message));
  `;
  try {
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: empty } });
    expect(stdout).toMatch(
      /^Redis is missing and could not be downloaded \(.*apt-get.*\)\.\n.*sudo apt-get install redis-server.*REDIS_URL/,
    );
  } finally {
    await rm(empty, { recursive: true });
  }
});
