import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../private-file.ts';
import { type Bounds, runCommand } from '../processes/run-command.ts';
import { repositoryRoot } from '../repository.ts';
import { commandSettings, type StackSettings } from './services.ts';

/** The address of the platform, and the key of the first Tenant's first Application. */
export interface Credentials {
  base_url: string;
  tenant_id: string;
  management_key: string;
}

const tenantCommand = join(repositoryRoot, 'services', 'management-api', 'src', 'tenants', 'tenant.command.ts');

export const credentialsFile = (directory: string) => join(directory, 'credentials.json');

/** The credentials of a folder. The first use creates a Tenant for them; later only `base_url` may change. */
export async function readCredentials(
  { directory, baseUrl, settings }: { directory: string; baseUrl: string; settings: StackSettings },
  bounds: Bounds,
): Promise<Credentials> {
  const file = credentialsFile(directory);
  const text = await readIfPresent(file);
  const known: Omit<Credentials, 'base_url'> = text ? JSON.parse(text) : await createTenant(settings, bounds);
  const credentials = { base_url: baseUrl, tenant_id: known.tenant_id, management_key: known.management_key };
  const wanted = `${JSON.stringify(credentials, null, 2)}\n`;
  if (text !== wanted) await writePrivateFile(file, wanted);
  return credentials;
}

async function createTenant(settings: StackSettings, bounds: Bounds): Promise<Omit<Credentials, 'base_url'>> {
  const args = [tenantCommand, 'create', '--name', 'Local', '--json'];
  return JSON.parse(await runCommand(process.execPath, args, { ...bounds, env: commandSettings(settings) }));
}
