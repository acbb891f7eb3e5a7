import { credentialSettings, readPepper } from '@sluice/credentials';
import { connectDatabase, databaseSettings, type Queryable } from '@sluice/database';
import { hostSettings } from '@sluice/hosts';
import { ConfigError, readConfig } from '@sluice/service-runtime';
import { UsageError } from '@sluice/service-runtime/command-line';
import { consoleUrlOf } from '../../console/console-url.ts';
import { asciiLowerCase } from '../ascii-lower-case.ts';
import { listMembersByEmail } from '../members/member.queries.ts';
import type { ConsoleCommand } from './console.arguments.ts';
import { createMembersLink, createOwnersLink, findOnlyTenant } from './make-link.ts';
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
 * @throws {UsageError} if the Tenant or the member must be chosen.
 */
export async function makeLink(command: Omit<ConsoleCommand, 'name'>, env: NodeJS.ProcessEnv): Promise<string> {
  const { tenantId: given, email, memberId } = command;
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
  const maker = { db, pepper: readPepper(config.KEY_PEPPER) };
  const secret =
    email === undefined
      ? await createOwnersLink(maker, tenantId)
      : await createMembersLink(maker, { tenantId, userId: await findUserId(db, { tenantId, email, memberId }) });
  if (secret === undefined) throw new Error(`There is no Tenant ${tenantId}, or it is closed`);
  return `${url}/sign-in#${secret}`;
}

interface ChosenMember {
  tenantId: string;
  email: string;
  memberId: string | undefined;
}

/** The person who is the member with this address. @throws {UsageError} if several are, and none of them is chosen. */
async function findUserId(db: Queryable, { tenantId, email, memberId }: ChosenMember): Promise<string> {
  const found = await listMembersByEmail(db, tenantId, asciiLowerCase(email));
  if (found.length === 0) throw new Error('No member of the Tenant has this e-mail address, or the Tenant is closed');
  const [chosen, another] = memberId === undefined ? found : found.filter(({ id }) => id === memberId);
  if (chosen && !another) return chosen.user_id;
  const why = chosen ? 'Several members have this e-mail address' : 'This member has another e-mail address';
  const lines = found.map(({ id, role, created_at }) => `  --member ${id}  ${role}, since ${created_at}`);
  throw new UsageError(`${why}. Choose one:\n${lines.join('\n')}`);
}
