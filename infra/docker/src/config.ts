import { credentialSettings, keyEnvironmentSettings } from '@sluice/credentials';
import { databaseSettings } from '@sluice/database';
import type { Config } from '@sluice/service-runtime';

export const secretsSchema = {
  type: 'object',
  required: ['SECRETS_DIR'],
  properties: { SECRETS_DIR: { type: 'string', description: 'Folder in which the secrets are made' } },
} as const;

export const migrateSchema = {
  type: 'object',
  required: ['DATABASE_URL'],
  properties: { DATABASE_URL: databaseSettings.DATABASE_URL },
} as const;

export const setupSchema = {
  type: 'object',
  required: ['BASE_URL', 'CREDENTIALS_DIR', 'DATABASE_URL', 'KEY_PEPPER'],
  properties: {
    ...databaseSettings,
    ...credentialSettings,
    ...keyEnvironmentSettings,
    BASE_URL: { type: 'string', pattern: '^https?://', format: 'url', description: 'Where clients reach the platform' },
    CREDENTIALS_DIR: { type: 'string', description: 'Folder of credentials.json' },
  },
} as const;

export type SetupConfig = Config<typeof setupSchema>;
