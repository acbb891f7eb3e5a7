import { credentialSettings, keyEnvironmentSettings, readPepper } from '@sluice/credentials';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { hostSettings } from '@sluice/hosts';
import { type Config, ConfigError, readConfig } from '@sluice/service-runtime';
import { UsageError } from '@sluice/service-runtime/command-line';
import { consoleUrlOf } from '../console/console-url.ts';
import { invitationUrl } from '../people/invitations/invitation.url.ts';
import { inviteOwner } from '../people/invitations/invite-owner.ts';
import { findOnlyTenant } from '../people/sign-ins/make-link.ts';
import { linkSignInSetting } from '../people/sign-ins/settings.ts';
import { createManagementKey, createTenant, type KeyMaker, type NewTenant } from './create-tenant.ts';
import type { TenantCommand } from './tenant.arguments.ts';

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

/**
 * @returns what the command prints.
 * @throws {ConfigError} for settings that are not usable.
 */
export async function perform(command: TenantCommand, env: NodeJS.ProcessEnv): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const config = readConfig(configSchema, env);
  const db = connectDatabase(config, { stack, onError: (error) => console.error(error.message) });
  const { CONSOLE_LINK_SIGN_IN: linkSignIn, KEY_ENVIRONMENT: keyEnvironment } = config;
  const maker: KeyMaker = { db, pepper: readPepper(config.KEY_PEPPER), keyEnvironment, linkSignIn };
  if (command.name === 'owner') return await invite(maker, config, command);
  const made = await make(maker, command);
  return command.json ? JSON.stringify(made) : inLines(made);
}

type Made = Omit<NewTenant, 'owner_id'> & { owner_id?: string };

async function make(maker: KeyMaker, command: Extract<TenantCommand, { name: 'create' | 'key' }>): Promise<Made> {
  if (command.name === 'create') {
    const { tenantName: name, ownerId } = command;
    return createTenant(maker, { name, ...(ownerId && { ownerId }) });
  }
  return (await createManagementKey(maker, command.tenantId)) ?? missing(command.tenantId);
}

async function invite(
  { db, pepper }: KeyMaker,
  { CONSOLE_HOST }: Config<typeof configSchema>,
  { email, tenantId: given }: { email: string; tenantId: string | undefined },
): Promise<string> {
  const consoleUrl = consoleUrlOf(CONSOLE_HOST);
  if (consoleUrl === undefined) throw new ConfigError(['CONSOLE_HOST: is not set, so nobody can accept an invitation']);
  const tenantId = given ?? (await findOnlyTenant(db));
  if (!tenantId) throw new UsageError('There is not exactly one Tenant, so --tenant is required');
  const secret = (await inviteOwner(db, pepper, { tenantId, email })) ?? missing(tenantId);
  return `${invitationUrl(consoleUrl, secret)}`;
}

function missing(tenantId: string): never {
  throw new Error(`There is no Tenant ${tenantId}, or it is closed`);
}

function inLines({ tenant_id, owner_id, management_key }: Made): string {
  const owner = owner_id === undefined ? '' : `Owner           ${owner_id}\n`;
  return `Tenant          ${tenant_id}
${owner}Management key  ${management_key}

Keep the key now: it is not shown again.`;
}
