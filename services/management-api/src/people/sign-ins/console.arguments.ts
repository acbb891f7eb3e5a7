import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';

export const help = `Usage: npm run console -- link [--email <address>] [--member <uuid>] [--tenant <uuid>]

link  Prints a link that signs in to the console. It can be used once, within five minutes. It signs in as an OWNER of the
      Tenant, or, with --email, as this member. The audit log of the Tenant records it.

  --email   e-mail address of the member
  --member  id of the member, if several members have this address; the command then lists them
  --tenant  id of the Tenant; required only if there are several Tenants

DATABASE_URL, KEY_PEPPER, CONSOLE_HOST and CONSOLE_LINK_SIGN_IN are read from the environment. For a stack that "npm start" runs
they are taken from .sluice/environment.`;

export interface ConsoleCommand {
  name: 'link';
  tenantId: string | undefined;
  email: string | undefined;
  memberId: string | undefined;
}

/** @throws {UsageError} */
export function readArguments(args: string[]): ConsoleCommand | Help {
  const { values, positionals } = readOptions({
    args,
    allowPositionals: true,
    options: {
      tenant: { type: 'string' },
      email: { type: 'string' },
      member: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return { name: 'help' };
  if (positionals.join(' ') !== 'link') throw new UsageError('The command is "link"');
  const { email, tenant, member } = values;
  if (member !== undefined && email === undefined) throw new UsageError('--member goes with --email');
  return { name: 'link', tenantId: readId('--tenant', tenant), email, memberId: readId('--member', member) };
}

/** @throws {UsageError} */
function readId(option: string, text: string | undefined): string | undefined {
  const id = text === undefined ? undefined : canonicalUuid(text);
  if (text !== undefined && id === undefined) throw new UsageError(`${option} must be a UUID`);
  return id;
}
