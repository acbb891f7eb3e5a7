import { bodyBytesSettings } from '@sluice/body-bytes';
import { credentialSettings, keyEnvironmentSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { corsSettings, streamSettings, trustedProxySettings } from '@sluice/http-api';
import { ledgerOriginSettings, ledgerPublicKeysSetting } from '@sluice/ledger';
import { transformSettings } from '@sluice/sandbox';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings, vaultConditions } from '@sluice/vault';
import { trialSettings } from './proxies/open-trials.ts';
import { sessionSettings } from './sessions/session.limits.ts';

export const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'REDIS_URL', 'KEY_PEPPER'],
  allOf: vaultConditions,
  properties: {
    ...serviceSettings,
    ...storeSettings,
    ...traceSettings,
    ...credentialSettings,
    ...keyEnvironmentSettings,
    ...destinationSettings,
    ...transformSettings,
    ...trialSettings,
    ...corsSettings,
    ...bodyBytesSettings,
    ...streamSettings,
    ...ledgerOriginSettings,
    ...ledgerPublicKeysSetting,
    ...trustedProxySettings,
    ...sessionSettings,
    PORT: { type: 'integer', minimum: 0, maximum: 65535, default: 8081, description: 'Port to listen on' },
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      default: 9081,
      description: 'Port of /livez, /readyz and /metrics',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
