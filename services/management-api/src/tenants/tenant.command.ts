import { credentialSettings, keyEnvironmentSettings, readPepper } from '@sluice/credentials';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { canonicalUuid, hostSettings } from '@sluice/http-api';
import { type Config, ConfigError, readConfig } from '@sluice/service-runtime';
import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { consoleUrlOf } from '../console/console-url.ts';
import { invitationUrl } from '../people/invitations/invitation.url.ts';
import { inviteOwner, isEmail } from '../people/invitations/invite-owner.ts';
import { findOnlyTenant } from '../people/sign-ins/make-link.ts';
import { linkSignInSetting } from '../people/sign-ins/settings.ts';
import { createManagementKey, createTenant, type KeyMaker } from './create-tenant.ts';

const help = `Usage: npm run tenant -- create --name <name> [--owner <uuid>] [--json]
       npm run tenant -- key --tenant <uuid> [--json]
       npm run tenant -- owner --invite <email> [--tenant <uuid>]

create  Creates a Tenant and its first Application, which holds every management permission, and prints that
        Application's API key. The key is shown once and cannot be had again.
key     Creates one more such Application in a Tenant whose management key was lost, and prints its key, once. Other keys
        stay as they are. The audit log of the Tenant has a row for it.
owner   Prints an invitation for the owner of a Tenant, good once, for 72 hours: whoever signs in with this e-mail address and
        accepts it is the user owner_id from then on.

  --name    name of the Tenant, 1 to 200 characters
  --owner   id of the user who owns it; a new one without it
  --tenant  id of the Tenant; for owner it may be left out where there is one only
  --invite  e-mail address of the owner
  --json    one line of JSON: { "tenant_id", "owner_id", "application_id", "management_key" }; key: without "owner_id"

DATABASE_URL and KEY_PEPPER (or the files that DATABASE_URL_FILE and KEY_PEPPER_FILE name) are read from the
environment. For a stack that "npm start" runs they are taken from .sluice/environment.`;

const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'KEY_PEPPER'],
  properties: {
    ...databaseSettings,
    ...credentialSettings,
    ...keyEnvironmentSettings,
    CONSOLE_HOST: hostSettings.CONSOLE_HOST,
    ...linkSignInSetting,
  },
} as const;

process.exitCode = await run(process.argv.slice(2));

async function run(argv: string[]): Promise<number> {
  try {
    const { values, positionals } = readOptions({
      args: argv,
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        owner: { type: 'string' },
        tenant: { type: 'string' },
        invite: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) {
      console.log(help);
      return 0;
    }
    const [command, extra] = positionals;
    const fault =
      extra === undefined
        ? faultIn(command, values)
        : `"${extra}" is one argument too many; a name with spaces needs quotes`;
    if (fault) throw new UsageError(fault);
    const print = (made: Made) => (values.json ? console.log(JSON.stringify(made)) : printLines(made));
    const { name = '' } = values;
    const [owner, tenant = ''] = [values.owner, values.tenant].map((id = '') => canonicalUuid(id));
    await using stack = new AsyncDisposableStack();
    const config = readConfig(configSchema, process.env);
    const maker = openMaker(config, stack);
    if (command === 'owner') return await printInvitation(maker, config, { email: values.invite ?? '', tenant });
    if (command === 'create') print(await createTenant(maker, { name, ...(owner && { ownerId: owner }) }));
    else {
      const made = await createManagementKey(maker, tenant);
      if (!made) return fail(`There is no Tenant ${tenant}, or it is closed`);
      print(made);
    }
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\n\n${help}`, 2);
    if (error instanceof ConfigError) return fail(error.message, 78);
    return fail(`Nothing was created: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function faultIn(
  command: string | undefined,
  { name, owner, tenant, invite }: { name?: string; owner?: string; tenant?: string; invite?: string },
): string | undefined {
  if (command === 'owner') {
    if (name !== undefined || owner !== undefined) return 'owner takes --invite and --tenant only';
    if (tenant !== undefined && canonicalUuid(tenant) === undefined) return '--tenant must be a UUID';
    return isEmail(invite ?? '') ? undefined : '--invite is required, an e-mail address';
  }
  if (invite !== undefined) return '--invite is for the command "owner"';
  if (command === 'key') {
    if (name !== undefined || owner !== undefined) return 'key takes --tenant and --json only';
    return canonicalUuid(tenant ?? '') !== undefined ? undefined : '--tenant is required, a UUID';
  }
  if (command !== 'create')
    return `There is no command "${command ?? ''}"; the commands are "create", "key" and "owner"`;
  if (tenant !== undefined) return '--tenant is for the commands "key" and "owner"';
  if (!name || [...name].length > 200) return '--name is required, 1 to 200 characters';
  if (owner !== undefined && canonicalUuid(owner) === undefined) return '--owner must be a UUID';
  return undefined;
}

type CommandConfig = Config<typeof configSchema>;

function openMaker(config: CommandConfig, stack: AsyncDisposableStack): KeyMaker {
  const db = connectDatabase(config, { stack, onError: (error) => console.error(error.message) });
  const linkSignIn = config.CONSOLE_LINK_SIGN_IN;
  return { db, pepper: readPepper(config.KEY_PEPPER), keyEnvironment: config.KEY_ENVIRONMENT, linkSignIn };
}

async function printInvitation(
  { db, pepper }: KeyMaker,
  { CONSOLE_HOST }: CommandConfig,
  { email, tenant }: { email: string; tenant: string | undefined },
): Promise<number> {
  const url = consoleUrlOf(CONSOLE_HOST);
  if (url === undefined) return fail('CONSOLE_HOST is not set, so nobody can accept an invitation', 78);
  const tenantId = tenant || (await findOnlyTenant(db));
  if (!tenantId) throw new UsageError('There is not exactly one Tenant, so --tenant is required');
  const secret = await inviteOwner(db, pepper, { tenantId, email });
  if (secret === undefined) return fail(`There is no Tenant ${tenantId}, or it is closed`);
  console.log(invitationUrl(url, secret));
  return 0;
}

interface Made {
  tenant_id: string;
  owner_id?: string;
  management_key: string;
}

function printLines({ tenant_id, owner_id, management_key }: Made): void {
  const owner = owner_id === undefined ? '' : `Owner           ${owner_id}\n`;
  console.log(`Tenant          ${tenant_id}
${owner}Management key  ${management_key}

Keep the key now: it is not shown again.`);
}

function fail(message: string, exitCode = 1): number {
  console.error(message);
  return exitCode;
}
