import { join } from 'node:path';
import { type Bounds, runCommand } from '../processes/run-command.ts';
import { repositoryRoot } from '../repository.ts';

const command = join(repositoryRoot, 'packages', 'database', 'src', 'migrate.command.ts');

/**
 * Brings a database to the newest version.
 * @throws {CommandError} with what the migration said.
 */
export async function migrateDatabase(databaseUrl: string, bounds: Bounds = {}): Promise<void> {
  await runCommand(process.execPath, [command], { ...bounds, env: { DATABASE_URL: databaseUrl }, timeoutMs: 600_000 });
}
