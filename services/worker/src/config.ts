import { databaseSettings } from '@sluice/database';
import { ledgerKeySetting, ledgerOriginSettings } from '@sluice/ledger';
import { redisSettings } from '@sluice/redis';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';

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
      format: 'url',
      description:
        'Receives each new checkpoint by POST, so that the past cannot be rewritten unnoticed. It must answer 2xx',
    },
    LEDGER_WITNESS_FILE: {
      type: 'string',
      minLength: 1,
      description: 'File for checkpoints, instead of the URL',
    },
    AUDIT_RETENTION_DAYS: {
      type: 'integer',
      minimum: 1,
      maximum: 36_500,
      description: 'How long audit rows stay, at least; at most a month longer. Without it for ever',
    },
    AUDIT_KEEP_CLOSED_DAYS: {
      type: 'integer',
      minimum: 0,
      maximum: 36_500,
      default: 365,
      description: 'How long the audit log of a deleted Tenant stays',
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
      description: 'Silence after which another worker takes a job',
    },
    SWEEP_INTERVAL_MS: {
      type: 'integer',
      minimum: 100,
      default: 60_000,
      description: 'Interval of searches for due rows without a job',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
