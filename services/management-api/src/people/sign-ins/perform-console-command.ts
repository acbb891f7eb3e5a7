import { credentialSettings, readPepper } from '@sluice/credentials';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { hostSettings } from '@sluice/hosts';
import { ConfigError, readConfig } from '@sluice/service-runtime';
import { UsageError } from '@sluice/service-runtime/command-line';
import { consoleUrlOf } from '../../console/console-url.ts';
import { createOwnersLink, findOnlyTenant } from './make-link.ts';
import { linkSignInSetting } from './settings.ts';

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

/**
 * @returns the link.
 * @throws {ConfigError} for settings that are not usable, or with which links do not sign in.
 */
export async function makeLink(given: string | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  const config = readConfig(configSchema, env);
  const url = consoleUrlOf(config.CONSOLE_HOST);
  if (url === undefined) throw new ConfigError(['CONSOLE_HOST: is not set, so there is no console to sign in to']);
  if (!config.CONSOLE_LINK_SIGN_IN) {
    throw new ConfigError(['CONSOLE_LINK_SIGN_IN: is not true, so links do not sign in']);
  }
  await using stack = new AsyncDisposableStack();
  const db = connectDatabase(config, { stack, onError: (error) => console.error(error.message) });
  const tenantId = given ?? (await findOnlyTenant(db));
  if (tenantId === undefined) throw new UsageError('There is not exactly one Tenant, so --tenant is required');
  const secret = await createOwnersLink({ db, pepper: readPepper(config.KEY_PEPPER) }, tenantId);
  if (secret === undefined) throw new Error(`There is no Tenant ${tenantId}, or it is closed`);
  return `${url}/sign-in#${secret}`;
}
