import { chown, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startStores } from '@sluice/local';
import { connectPostgres, eventually } from '@sluice/testing';
import { run } from '../run-program.ts';

/** A Postgres in `directory` that follows the one `of` another stack; @returns its URL. It ends with the stack. */
export async function startReplica(
  { of, databaseUrl, redisUrl, directory }: Record<'of' | 'databaseUrl' | 'redisUrl' | 'directory', string>,
  closing: AsyncDisposableStack,
): Promise<string> {
  const data = join(directory, 'postgres', 'data');
  for (const folder of [directory, join(directory, 'postgres')]) await mkdir(folder, { mode: 0o711 });
  await copyFile(join(of, 'postgres', 'password'), join(directory, 'postgres', 'password'));
  const client = await connectPostgres(databaseUrl);
  closing.defer(() => client.end().catch(() => undefined)); // its server may be gone
  client.on('error', () => undefined);
  await client.query("select pg_backup_start('replica', true)");
  await run('cp', ['-a', join(of, 'postgres', 'data'), data]);
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  const { hostname, port, username, password } = new URL(databaseUrl);
  const connection = `host=${hostname} port=${port} user=${username} password=${password} application_name=replica`;
  const { uid, gid } = await stat(data);
  for (const [name, text] of [
    ['backup_label', rows[0]?.labelfile ?? ''],
    ['standby.signal', ''],
    ['postgresql.auto.conf', `primary_conninfo = '${connection}'\n`],
  ] as const) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    await chown(join(data, name), uid, gid);
  }
  await run('rm', ['-f', join(data, 'postmaster.pid')]);
  const stores = closing.adopt(await startStores({ directory, log: () => undefined, redisUrl }), (started) =>
    started.close(),
  );
  await eventually('the replica follows', async () => {
    const { rowCount } = await client.query("select from pg_stat_replication where state = 'streaming'");
    return rowCount === 1;
  });
  return stores.databaseUrl;
}
