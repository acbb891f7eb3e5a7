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
        'Where each new checkpoint of the audit log is posted as text, so that not even who owns the database can rewrite ' +
        'the past unnoticed; a 2xx says that it was taken, anything else is tried again',
    },
    LEDGER_WITNESS_FILE: {
      type: 'string',
      minLength: 1,
      description: 'The same as a file to which checkpoints are appended, instead of a URL; `npm run ledger` reads it',
    },
    AUDIT_RETENTION_DAYS: {
      type: 'integer',
      minimum: 1,
      maximum: 36_500,
      description:
        'How long rows of the audit log stay at least, in days; they are dropped by months, so that they stay a month ' +
        'longer at most. Without it they stay for ever',
    },
    AUDIT_KEEP_CLOSED_DAYS: {
      type: 'integer',
      minimum: 0,
      maximum: 36_500,
      default: 365,
      description: 'How long the audit log of a Tenant stays after the Tenant is purged, in days; 0: it goes with it',
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
        "How long a job is a worker's without a sign of life from it; then another takes it over, in milliseconds",
    },
    SWEEP_INTERVAL_MS: {
      type: 'integer',
      minimum: 100,
      default: 60_000,
      description: 'How often rows are searched that are due and have no job, or whose job was lost, in milliseconds',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
