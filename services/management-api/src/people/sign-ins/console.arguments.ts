import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';

export const help = `Usage: npm run console -- link [--tenant <uuid>]

link  Prints a link that signs you in to the console once, within five minutes, as an OWNER of the Tenant. The audit log of the
      Tenant has a row for it.

  --tenant  id of the Tenant; may be left out where there is one only

DATABASE_URL, KEY_PEPPER, CONSOLE_HOST and CONSOLE_LINK_SIGN_IN are read from the environment. For a stack that "npm start" runs
they are taken from .sluice/environment.`;

export interface ConsoleCommand {
  name: 'link';
  tenantId: string | undefined;
}

/** @throws {UsageError} */
export function readArguments(args: string[]): ConsoleCommand | Help {
  const { values, positionals } = readOptions({
    args,
    allowPositionals: true,
    options: { tenant: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return { name: 'help' };
  if (positionals.join(' ') !== 'link') throw new UsageError('The command is "link"');
  const tenantId = values.tenant === undefined ? undefined : canonicalUuid(values.tenant);
  if (values.tenant !== undefined && tenantId === undefined) throw new UsageError('--tenant must be a UUID');
  return { name: 'link', tenantId };
}
