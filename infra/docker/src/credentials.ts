import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readIfPresent, replaceFile } from './private-file.ts';

/** What a client needs: where the platform is, and the key of the first Tenant's first Application. */
export interface Credentials {
  base_url: string;
  tenant_id: string;
  management_key: string;
}

export interface CredentialsOptions {
  directory: string;
  baseUrl: string;
  /** Environment of the command that creates a Tenant. */
  env: NodeJS.ProcessEnv;
}

const tenantCommand = join(import.meta.dirname, '../../../services/management-api/src/tenants/tenant.command.ts');

const fileIn = (directory: string) => join(directory, 'credentials.json');

/** The text of credentials.json; undefined before the first {@link ensureCredentials}. */
export function readCredentials(directory: string): Promise<string | undefined> {
  return readIfPresent(fileIn(directory));
}

/** Writes credentials.json. The first call creates a Tenant; later ones only update `base_url`. */
export async function ensureCredentials({ directory, baseUrl, env }: CredentialsOptions): Promise<void> {
  const text = await readCredentials(directory);
  const { tenant_id, management_key }: Credentials = JSON.parse(text ?? (await createTenant(env)));
  const credentials: Credentials = { base_url: baseUrl, tenant_id, management_key };
  const wanted = `${JSON.stringify(credentials, null, 2)}\n`;
  if (text !== wanted) await replaceFile(fileIn(directory), wanted);
}

async function createTenant(env: NodeJS.ProcessEnv): Promise<string> {
  const args = [tenantCommand, 'create', '--name', 'Local', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout;
}
