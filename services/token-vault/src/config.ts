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
      description: 'Tokens created or changed with keys of one public Application; otherwise 429. 0: no limit',
    },
    PUBLIC_TOKEN_BYTES_PER_MINUTE: {
      ...most,
      default: 500 * 1024 * 1024,
      description: 'Bytes of these requests of one public Application; otherwise 429. 0: no limit',
    },
    PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE: {
      ...most,
      default: 120,
      description:
        'Tokens created or changed with public keys from one address (IPv6: /64), if TRUSTED_PROXIES is set. 0: no limit',
    },
    PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE: {
      ...most,
      default: 10 * 1024 * 1024,
      description: 'Bytes of these requests from one address. 0: no limit',
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
