import { databaseSettings } from '@sluice/database';
import { ledgerKeySetting, ledgerOriginSettings } from '@sluice/ledger';
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
    ...ledgerOriginSettings,
    LEDGER_WITNESS_URL: {
      type: 'string',
      // No user info, because fetch refuses it with an error that quotes the URL.
      pattern: '^https?://[^@/?#\\s]+([/?#]|$)',
      description:
        'Where each new checkpoint of the audit log is posted as text, so that the owner of the database ' +
        'cannot rewrite the past unnoticed. A 2xx accepts it, anything else is retried',
    },
    LEDGER_WITNESS_FILE: {
      type: 'string',
      minLength: 1,
      description: 'File to which checkpoints are appended, instead of a URL; `npm run ledger` reads it',
    },
    AUDIT_RETENTION_DAYS: {
      type: 'integer',
      minimum: 1,
      maximum: 36_500,
      description: 'How long rows of the audit log are kept, in days, and at most a month longer; without it for ever',
    },
    AUDIT_KEEP_CLOSED_DAYS: {
      type: 'integer',
      minimum: 0,
      maximum: 36_500,
      default: 365,
      description: 'How long the audit log of a purged Tenant is kept, in days; 0: it is purged too',
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
      description: "How long a worker's job may show no sign of life before another worker takes it, in milliseconds",
    },
    SWEEP_INTERVAL_MS: {
      type: 'integer',
      minimum: 100,
      default: 60_000,
      description: 'How often due rows without a job, or whose job was lost, are searched, in milliseconds',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
