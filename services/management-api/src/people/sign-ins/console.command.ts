import { credentialSettings, readPepper } from '@sluice/credentials';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { canonicalUuid, hostSettings } from '@sluice/http-api';
import { ConfigError, readConfig } from '@sluice/service-runtime';
import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { consoleUrlOf } from '../../console/console-url.ts';
import { createOwnersLink, findOnlyTenant } from './make-link.ts';
import { linkSignInSetting } from './settings.ts';

const help = `Usage: npm run console -- link [--tenant <uuid>]

link  Prints a link that signs you in to the console once, within five minutes, as an OWNER of the Tenant. The audit log of the
      Tenant has a row for it.

  --tenant  id of the Tenant; may be left out where there is one only

DATABASE_URL, KEY_PEPPER, CONSOLE_HOST and CONSOLE_LINK_SIGN_IN are read from the environment. For a stack that "npm start" runs
they are taken from .sluice/environment.`;

const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'KEY_PEPPER'],
  properties: {
    ...databaseSettings,
    ...credentialSettings,
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
      options: { tenant: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) {
      console.log(help);
      return 0;
    }
    if (positionals.join(' ') !== 'link') throw new UsageError('The command is "link"');
    const given = values.tenant === undefined ? undefined : canonicalUuid(values.tenant);
    if (values.tenant !== undefined && given === undefined) throw new UsageError('--tenant must be a UUID');
    return await printLink(given);
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\n\n${help}`, 2);
    if (error instanceof ConfigError) return fail(error.message, 78);
    return fail(error instanceof Error ? error.message : String(error));
  }
}

async function printLink(given: string | undefined): Promise<number> {
  const config = readConfig(configSchema, process.env);
  const url = consoleUrlOf(config.CONSOLE_HOST);
  if (url === undefined) return fail('CONSOLE_HOST is not set, so there is no console to sign in to', 78);
  if (!config.CONSOLE_LINK_SIGN_IN) return fail('CONSOLE_LINK_SIGN_IN is not true, so links do not sign in', 78);
  await using stack = new AsyncDisposableStack();
  const db = connectDatabase(config, { stack, onError: (error) => console.error(error.message) });
  const tenantId = given ?? (await findOnlyTenant(db));
  if (tenantId === undefined) throw new UsageError('There is not exactly one Tenant, so --tenant is required');
  const secret = await createOwnersLink({ db, pepper: readPepper(config.KEY_PEPPER) }, tenantId);
  if (secret === undefined) return fail(`There is no Tenant ${tenantId}, or it is closed`);
  console.log(`${url}/sign-in#${secret}`);
  return 0;
}

function fail(message: string, exitCode = 1): number {
  console.error(message);
  return exitCode;
}
