import { join } from 'node:path';
import { type Bounds, runCommand } from '../processes/run-command.ts';
import { repositoryRoot } from '../repository.ts';

/**
 * Migrates a database to the newest version.
 * @param root of another version of the product; this one by default.
 * @returns the output of the migration.
 * @throws {CommandError} with the output of the migration.
 */
export function migrateDatabase(databaseUrl: string, bounds: Bounds = {}, root = repositoryRoot): Promise<string> {
  const command = join(root, 'packages', 'database', 'src', 'migrate.command.ts');
  return runCommand(process.execPath, [command], { ...bounds, env: { DATABASE_URL: databaseUrl }, timeoutMs: 600_000 });
}
