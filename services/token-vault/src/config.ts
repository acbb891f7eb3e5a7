import { bodyBytesSettings } from '@sluice/body-bytes';
import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { corsSettings, trustedProxySettings } from '@sluice/http-api';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings, vaultConditions } from '@sluice/vault';
import { publicTokenSettings } from './public-tokens/public-token.settings.ts';

export const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'REDIS_URL', 'KEY_PEPPER'],
  allOf: vaultConditions,
  properties: {
    ...serviceSettings,
    ...storeSettings,
    ...traceSettings,
    ...cacheSettings,
    ...credentialSettings,
    ...corsSettings,
    ...bodyBytesSettings,
    ...trustedProxySettings,
    ...publicTokenSettings,
    PORT: { type: 'integer', minimum: 0, maximum: 65535, default: 8082, description: 'Port to listen on' },
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      default: 9082,
      description: 'Port of /livez, /readyz and /metrics',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
