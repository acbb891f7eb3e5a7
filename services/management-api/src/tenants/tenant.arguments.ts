import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { faultInName, withoutBlanks } from '../names.ts';
import { isEmail } from '../people/invitations/e-mail.ts';

export const help = `Usage: npm run tenant -- create --name <name> [--owner <uuid>] [--json]
       npm run tenant -- key --tenant <uuid> [--json]
       npm run tenant -- owner --invite <email> [--tenant <uuid>]

create  Creates a Tenant and an Application with all management permissions, and prints the API key of the Application.
        The key is shown only once.
key     Creates another such Application in a Tenant whose management key was lost, and prints its API key. The key is
        shown only once. Existing keys stay valid. The audit log of the Tenant records it.
owner   Prints a link that invites the owner of a Tenant. It can be used once, within 72 hours. The person who signs in with
        this e-mail address and accepts the invitation becomes the owner of the Tenant, with the user id that "create"
        printed as owner_id.

  --name    name of the Tenant, 1 to 200 characters
  --owner   id of the user who owns the Tenant; default: a new id
  --tenant  id of the Tenant; the command "owner" needs it only if there are several Tenants
  --invite  e-mail address of the owner
  --json    prints one line of JSON: { "tenant_id", "owner_id", "application_id", "management_key" }; the command "key"
            prints no "owner_id"

DATABASE_URL and KEY_PEPPER (or the files that DATABASE_URL_FILE and KEY_PEPPER_FILE name) are read from the
environment. For a stack that "npm start" runs they are taken from .sluice/environment.`;

export type TenantCommand =
  | { name: 'create'; tenantName: string; ownerId: string | undefined; json: boolean }
  | { name: 'key'; tenantId: string; json: boolean }
  | { name: 'owner'; email: string; tenantId: string | undefined };

/** @throws {UsageError} */
export function readArguments(args: string[]): TenantCommand | Help {
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' };
  const [command, extra] = positionals;
  if (extra !== undefined)
    throw new UsageError(`"${extra}" is an unexpected argument. A name with spaces needs quotes`);
  if (command === 'owner') return readOwner(values);
  if (values.invite !== undefined) throw new UsageError('--invite is for the command "owner"');
  if (command === 'key') return readKey(values);
  if (command === 'create') return readCreate(values);
  throw new UsageError(`There is no command "${command ?? ''}"; the commands are "create", "key" and "owner"`);
}

type Values = ReturnType<typeof parse>['values'];

function parse(args: string[]) {
  return readOptions({
    args,
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
}

function readOwner({ name, owner, tenant, invite = '' }: Values): TenantCommand {
  if (name !== undefined || owner !== undefined)
    throw new UsageError('The command "owner" takes only --invite and --tenant');
  const tenantId = tenant === undefined ? undefined : canonicalUuid(tenant);
  if (tenant !== undefined && tenantId === undefined) throw new UsageError('--tenant must be a UUID');
  if (!isEmail(invite)) throw new UsageError('--invite is required, an e-mail address');
  return { name: 'owner', email: invite, tenantId };
}

function readKey({ name, owner, tenant = '', json = false }: Values): TenantCommand {
  if (name !== undefined || owner !== undefined)
    throw new UsageError('The command "key" takes only --tenant and --json');
  const tenantId = canonicalUuid(tenant);
  if (tenantId === undefined) throw new UsageError('--tenant is required, a UUID');
  return { name: 'key', tenantId, json };
}

function readCreate({ name, owner, tenant, json = false }: Values): TenantCommand {
  if (tenant !== undefined) throw new UsageError('--tenant is for the commands "key" and "owner"');
  if (name === undefined) throw new UsageError('--name is required');
  const fault = faultInName(name);
  if (fault !== undefined) throw new UsageError(`--name ${fault}`);
  const ownerId = owner === undefined ? undefined : canonicalUuid(owner);
  if (owner !== undefined && ownerId === undefined) throw new UsageError('--owner must be a UUID');
  return { name: 'create', tenantName: withoutBlanks(name), ownerId, json };
}
