import { databaseSettings } from '@sluice/database';
import { ledgerKeySetting, ledgerOriginSetting } from '@sluice/ledger';
import { type Config as ConfigOf, redisSettings, serviceSettings, traceSettings } from '@sluice/service-runtime';

export const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'REDIS_URL'],
  properties: {
    ...serviceSettings,
    ...databaseSettings,
    ...redisSettings,
    ...traceSettings,
    ...ledgerKeySetting,
    ...ledgerOriginSetting,
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      default: 9084,
      description: 'Port of /livez, /readyz and /metrics',
    },
    JOB_LOCK_MS: {
      type: 'integer',
      minimum: 1000,
      default: 30_000,
      description:
        "How long a job is a worker's without a sign of life from it; then another takes it over, in milliseconds",
    },
    SWEEP_INTERVAL_MS: {
      type: 'integer',
      minimum: 100,
      default: 60_000,
      description: 'How often rows are searched whose job was lost, in milliseconds',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
