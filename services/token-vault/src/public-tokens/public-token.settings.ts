import { sharedLimitSettings } from '@sluice/rate-limits';
import type { Config as ConfigOf } from '@sluice/service-runtime';

const most = { type: 'integer', minimum: 0, maximum: 2_000_000_000 } as const;

/** Everybody can see public keys. */
export const publicTokenSettings = {
  ...sharedLimitSettings,
  PUBLIC_TOKENS_PER_MINUTE: {
    ...most,
    default: 6000,
    description:
      'Tokens a minute made with the keys of one public Application, over all processes; beyond 429; 0: no limit',
  },
  PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE: {
    ...most,
    default: 120,
    description:
      'Tokens a minute made with public keys from one address (IPv6: one /64), over all processes, where TRUSTED_PROXIES is ' +
      'set; beyond 429; 0: no limit',
  },
  PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE: {
    ...most,
    default: 10 * 1024 * 1024,
    description:
      'Bytes a minute of the bodies of requests that make tokens with public keys, likewise; beyond 429; 0: no limit',
  },
} as const;

export type PublicTokenConfig = ConfigOf<{ type: 'object'; properties: typeof publicTokenSettings }> & {
  REDIS_URL: string;
  TRUSTED_PROXIES?: string | undefined;
};
