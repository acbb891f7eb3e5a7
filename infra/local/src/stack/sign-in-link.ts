import { join } from 'node:path';
import { type Bounds, runCommand } from '../processes/run-command.ts';
import { repositoryRoot } from '../repository.ts';
import { commandSettings, type StackSettings } from './services.ts';

const consoleCommand = join(
  repositoryRoot,
  'services',
  'management-api',
  'src',
  'people',
  'sign-ins',
  'console.command.ts',
);

/**
 * A link that signs in to the console once, within five minutes, as an OWNER of the Tenant.
 * @throws {CommandError} for a Tenant that was deleted.
 */
export async function createSignInLink(settings: StackSettings, tenantId: string, bounds: Bounds): Promise<string> {
  const args = [consoleCommand, 'link', '--tenant', tenantId];
  return (await runCommand(process.execPath, args, { ...bounds, env: commandSettings(settings) })).trim();
}
