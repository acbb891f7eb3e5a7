import { bodyBytesSettings } from '@sluice/body-bytes';
import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { hostSettings, trustedProxySettings } from '@sluice/hosts';
import { corsSettings } from '@sluice/http-api';
import { sharedLimitSettings } from '@sluice/rate-limits';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings } from '@sluice/stores';
import { vaultConditions } from '@sluice/vault';

const most = { type: 'integer', minimum: 0, maximum: 2_000_000_000 } as const;

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
    ...hostSettings,
    ...corsSettings,
    ...bodyBytesSettings,
    ...trustedProxySettings,
    ...sharedLimitSettings,
    PUBLIC_TOKENS_PER_MINUTE: {
      ...most,
      default: 6000,
      description:
        'Limit of tokens created or changed per minute with keys of one public Application. If it is exceeded, the response is 429. 0: no limit',
    },
    PUBLIC_TOKEN_BYTES_PER_MINUTE: {
      ...most,
      default: 500 * 1024 * 1024,
      description:
        'Limit of bytes per minute in requests that create or change tokens with keys of one public Application. If it is exceeded, the response is 429. 0: no limit',
    },
    PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE: {
      ...most,
      default: 120,
      description:
        'Limit of tokens per minute that one address (IPv6: one /64 network) may create or change with public keys. If it is exceeded, the response is 429. It applies only if TRUSTED_PROXIES is set. 0: no limit',
    },
    PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE: {
      ...most,
      default: 10 * 1024 * 1024,
      description:
        'Limit of bytes per minute that one address (IPv6: one /64 network) may send with public keys to create or change tokens. If it is exceeded, the response is 429. It applies only if TRUSTED_PROXIES is set. 0: no limit',
    },
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
