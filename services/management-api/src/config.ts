import { bodyBytesSettings } from '@sluice/body-bytes';
import { credentialSettings, keyEnvironmentSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { corsSettings, hostSettings, streamSettings, trustedProxySettings } from '@sluice/http-api';
import { ledgerOriginSettings, ledgerPublicKeysSetting } from '@sluice/ledger';
import { sharedLimitSettings } from '@sluice/rate-limits';
import { transformSettings } from '@sluice/sandbox';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings } from '@sluice/stores';
import { vaultConditions } from '@sluice/vault';
import { linkSignInSetting } from './sign-ins/settings.ts';

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
    TRANSFORM_TEST_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 64,
      default: 2,
      description: 'Threads that try transforms; one Tenant uses at most all but one',
    },
    TRANSFORM_TEST_QUEUE_LIMIT: {
      type: 'integer',
      minimum: 0,
      default: 50,
      description: 'Most trials of transforms that wait for a thread',
    },
    ...hostSettings,
    ...sharedLimitSettings,
    ...linkSignInSetting,
    OIDC_ISSUERS: {
      type: 'string',
      writeOnly: true,
      description:
        'OpenID Connect issuers by which people sign in to the console, as JSON: an array of `{ name, issuer, client_id, client_secret, email_verified_claim?, groups_claim?, groups? [{ group, tenant_id, role }] }`. ' +
        'The way back from one is `/sign-in/<name>/callback` on CONSOLE_HOST',
    },
    FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: {
      type: 'integer',
      minimum: 0,
      default: 20,
      description:
        'Most attempts to sign in that may fail from one address (IPv4, or IPv6 /64) in a minute; beyond 429. 0 for no limit, and none where TRUSTED_PROXIES is not set',
    },
    ...corsSettings,
    ...bodyBytesSettings,
    ...streamSettings,
    ...ledgerOriginSettings,
    ...ledgerPublicKeysSetting,
    ...trustedProxySettings,
    APPLICATION_MAX_WAITING_SESSIONS: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 10_000,
      description:
        'Most sessions of one Application that wait to be authorized; with more, the oldest of the network ' +
        '(IPv4 /24, IPv6 /48) that has most ends',
    },
    TENANT_MAX_SESSIONS: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 100_000,
      description: 'Most authorized sessions of one Tenant; with more, authorizing is 429',
    },
    TENANT_MAX_SESSION_CALLS: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 500,
      description:
        'Most calls of one Tenant that wait in one process to make a session, and as many to authorize one. ' +
        'With more, a call of the network (or authorizing Application) that has most is 429',
    },
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
