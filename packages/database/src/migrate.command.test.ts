import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTemporaryFolder, openTestDatabase, programEnvironment, useStack } from '@sluice/testing';

const command = fileURLToPath(new URL('migrate.command.ts', import.meta.url));
const setup = useStack(async (stack) => {
  const { url } = await openTestDatabase(stack);
  const file = join(await openTemporaryFolder(stack, 'migrate'), 'url');
  await writeFile(file, `${url}\n`);
  return { file };
});

function migrate(env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [command], { env: { ...programEnvironment(), ...env } }, (failure, stdout, stderr) =>
      resolve({ code: Number(failure?.code ?? 0), stdout, stderr }),
    );
  });
}

test('an empty DATABASE_URL counts as absent, as for every service: the file is read', async () => {
  const { file } = setup.current;
  const migrated = { code: 0, stdout: 'The database is up to date\n', stderr: '' };
  expect(await migrate({ DATABASE_URL: '', DATABASE_URL_FILE: file })).toEqual(migrated);
});

test.each([
  ['neither', {}, /^DATABASE_URL is not set; .*\n$/],
  ['a file that cannot be read', { DATABASE_URL_FILE: '/none' }, /^DATABASE_URL_FILE: ENOENT.*\n$/],
])('%s leaves with 78 and says why in a line', async (_name, env, message) => {
  const { code, stderr } = await migrate(env);
  expect([code, stderr]).toEqual([78, expect.stringMatching(message)]);
});
