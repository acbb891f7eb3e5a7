import { parseArgs } from 'node:util';
import { createPepper, credentialSettings, keyEnvironmentSettings } from '@sluice/credentials';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { uuidPattern } from '@sluice/http-api';
import { ConfigError, readConfig } from '@sluice/service-runtime';
import { createTenant } from './create-tenant.ts';

const help = `Usage: npm run tenant -- create --name <name> [--owner <uuid>] [--json]

Creates a Tenant and its first Application, which holds every management permission, and prints that Application's
API key. The key is shown once and cannot be had again.

  --name    name of the Tenant, 1 to 200 characters
  --owner   id of the user who owns it; a new one without it
  --json    one line of JSON: { "tenant_id", "owner_id", "application_id", "management_key" }

DATABASE_URL and KEY_PEPPER (or the files that DATABASE_URL_FILE and KEY_PEPPER_FILE name) are read from the
environment. For a stack that "npm start" runs they are taken from .sluice/environment.`;

const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'KEY_PEPPER'],
  properties: { ...databaseSettings, ...credentialSettings, ...keyEnvironmentSettings },
} as const;

process.exitCode = await run(process.argv.slice(2));

async function run(argv: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        owner: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) {
      console.log(help);
      return 0;
    }
    const [command] = positionals;
    const fault = faultIn(command, values);
    if (fault || values.name === undefined) return fail(`${fault}\n\n${help}`);
    await create({ name: values.name, ...(values.owner && { ownerId: values.owner }) }, values.json ?? false);
    return 0;
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    return fail(`The Tenant could not be created: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function faultIn(command: string | undefined, { name, owner }: { name?: string; owner?: string }): string | undefined {
  if (command !== 'create') return `There is no command "${command ?? ''}"; the one command is "create"`;
  if (!name || [...name].length > 200) return '--name is required, 1 to 200 characters';
  if (owner !== undefined && !uuidPattern.test(owner)) return '--owner must be a UUID';
  return undefined;
}

async function create(tenant: { name: string; ownerId?: string }, json: boolean): Promise<void> {
  const config = readConfig(configSchema, process.env);
  await using stack = new AsyncDisposableStack();
  const db = connectDatabase(config, { stack, onError: (error) => console.error(error.message) });
  const created = await createTenant(
    { db, pepper: createPepper(config.KEY_PEPPER), keyEnvironment: config.KEY_ENVIRONMENT },
    tenant,
  );
  if (json) return console.log(JSON.stringify(created));
  console.log(`Tenant          ${created.tenant_id}
Owner           ${created.owner_id}
Management key  ${created.management_key}

Keep the key now: it is not shown again.`);
}

function fail(message: string): number {
  console.error(message);
  return 1;
}
