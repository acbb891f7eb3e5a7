import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDatabase, connectDatabase, ping } from '@sluice/database';
import { findProgram, freePort, type Program } from '@sluice/local';
import { eventually, openTemporaryFolder, openTestDatabase, startDestination } from '@sluice/testing';
import { startPlatform } from './platform.ts';
import { runMainJob } from './run-main-job.ts';
import { run } from './run-program.ts';

interface PgBouncer extends Program {
  /** Whether it prepares statements anew, which it does from 1.21 on. */
  keepsStatements: boolean;
}

async function findPgBouncer(): Promise<PgBouncer> {
  const { command, env } = await findProgram('pgbouncer', { path: process.env.PATH ?? '', packages: ['pgbouncer'] });
  const { stdout } = await run(command, ['--version'], { env });
  const [, major = 0, minor = 0] = stdout.match(/(\d+)\.(\d+)/)?.map(Number) ?? [];
  return { command, env, keepsStatements: major > 1 || minor >= 21 };
}

/** Starts it in transaction mode, with two connections to Postgres for each user. @returns its address. */
async function startPgBouncer(
  stack: AsyncDisposableStack,
  { command, env, keepsStatements }: PgBouncer,
  databaseUrl: string,
): Promise<string> {
  const { hostname, port: postgresPort, username, password, pathname } = new URL(databaseUrl);
  const directory = await openTemporaryFolder(stack, 'pgbouncer');
  await chmod(directory, 0o755);
  const port = await freePort();
  const database = `host=${hostname} port=${postgresPort} user=${username} password=${decodeURIComponent(password)}`;
  const settings = [
    ...['[databases]', `${pathname.slice(1)} = ${database}`, '[pgbouncer]', 'listen_addr = 127.0.0.1'],
    ...[`listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction'],
    ...['default_pool_size = 2', 'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'],
    ...(keepsStatements ? ['max_prepared_statements = 200'] : []),
  ];
  const file = join(directory, 'pgbouncer.ini');
  await writeFile(file, settings.join('\n'));
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}; // it refuses to run as root
  const child = spawn(command, [file], { env, stdio: 'ignore', ...user });
  stack.defer(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  await using asking = new AsyncDisposableStack();
  const db = connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 1 }, { stack: asking, onError: () => undefined });
  await eventually('PgBouncer', () =>
    ping(db).then(
      () => true,
      () => false,
    ),
  );
  return url;
}

test('behind PgBouncer from 1.21 on the main job passes, and an older one is named with what it needs', async () => {
  await using stack = new AsyncDisposableStack();
  const pgBouncer = await findPgBouncer();
  if (pgBouncer.keepsStatements) {
    const openPooler = (databaseUrl: string) => startPgBouncer(stack, pgBouncer, databaseUrl);
    const { stack: platform } = await startPlatform(stack, { openPooler });
    await runMainJob(platform, await startDestination(stack));
    return;
  }
  const { url } = await openTestDatabase(stack);
  const options = { DATABASE_URL: await startPgBouncer(stack, pgBouncer, url), DATABASE_POOL_SIZE: 4 };
  const db = connectDatabase(options, { stack, onError: () => undefined });
  const checked = Promise.all(Array.from({ length: 4 }, () => checkDatabase(db)));
  await expect(checked).rejects.toThrow('it must be PgBouncer 1.21 or newer with max_prepared_statements > 0');
});
