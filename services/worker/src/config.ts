import { databaseSettings } from '@sluice/database';
import { ledgerKeySetting, ledgerOriginSettings } from '@sluice/ledger';
import { redisSettings } from '@sluice/redis';
import { baseUrlSetting, type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';

export const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'REDIS_URL'],
  properties: {
    ...serviceSettings,
    ...databaseSettings,
    ...redisSettings,
    ...traceSettings,
    ...ledgerKeySetting,
    ...baseUrlSetting,
    ...ledgerOriginSettings,
    LEDGER_WITNESS_URL: {
      type: 'string',
      // No user info, because fetch refuses it with an error that quotes the URL.
      pattern: '^https?://[^@/?#\\s]+([/?#]|$)',
      format: 'url',
      description:
        'URL to which each new checkpoint is sent by POST, so that nobody can change old rows unnoticed. It must respond with 2xx',
    },
    LEDGER_WITNESS_FILE: {
      type: 'string',
      minLength: 1,
      description: 'File to which each new checkpoint is appended, instead of LEDGER_WITNESS_URL',
    },
    AUDIT_RETENTION_DAYS: {
      type: 'integer',
      minimum: 1,
      maximum: 36_500,
      description:
        'Days after which rows of the audit log are deleted. Deletion can take up to a month longer. If it is not set, rows are never deleted',
    },
    AUDIT_KEEP_CLOSED_DAYS: {
      type: 'integer',
      minimum: 0,
      maximum: 36_500,
      default: 365,
      description: 'Days after which the audit log of a deleted Tenant is deleted',
    },
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
        'A worker renews the locks of its jobs. If it does not renew them for this time, another worker takes the jobs',
    },
    SWEEP_INTERVAL_MS: {
      type: 'integer',
      minimum: 100,
      default: 60_000,
      description:
        'Time between two sweeps. A sweep finds rows that are due, for example expired tokens, and that no job has processed',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
