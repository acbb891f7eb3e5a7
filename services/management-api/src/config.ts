import { bodyBytesSettings } from '@sluice/body-bytes';
import { credentialSettings, keyEnvironmentSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { hostSettings, trustedProxySettings } from '@sluice/hosts';
import { corsSettings, streamSettings } from '@sluice/http-api';
import { ledgerOriginSettings, ledgerPublicKeysSetting } from '@sluice/ledger';
import { sharedLimitSettings } from '@sluice/rate-limits';
import { transformSettings } from '@sluice/sandbox';
import { baseUrlSetting, type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings } from '@sluice/stores';
import { vaultConditions } from '@sluice/vault';
import { linkSignInSetting } from './people/sign-ins/settings.ts';

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
      description: 'Number of threads for test runs of code. One Tenant may use all of them except one',
    },
    TRANSFORM_TEST_QUEUE_LIMIT: {
      type: 'integer',
      minimum: 0,
      default: 50,
      description: 'Limit of test runs that wait for a free thread. If it is exceeded, the response is 503',
    },
    ...hostSettings,
    ...sharedLimitSettings,
    ...linkSignInSetting,
    OIDC_ISSUERS: {
      type: 'string',
      writeOnly: true,
      description: 'OpenID Connect issuers for the console, as JSON. See infra/guides/let-people-sign-in.md',
    },
    FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: {
      type: 'integer',
      minimum: 0,
      default: 20,
      description:
        'Limit of failed sign-ins from one address (IPv6: one /64 network). If it is exceeded, the response is 429. It applies only if TRUSTED_PROXIES is set. 0: no limit',
    },
    ...corsSettings,
    ...bodyBytesSettings,
    ...streamSettings,
    ...baseUrlSetting,
    ...ledgerOriginSettings,
    ...ledgerPublicKeysSetting,
    ...trustedProxySettings,
    APPLICATION_MAX_WAITING_SESSIONS: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 10_000,
      description:
        'Limit of sessions of one Application that wait for authorization. If it is exceeded, the network (IPv4 /24, IPv6 /48) with the most waiting sessions loses its oldest waiting session',
    },
    TENANT_MAX_SESSIONS: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 100_000,
      description: 'Limit of authorized sessions of one Tenant. If it is exceeded, the response is 429',
    },
    TENANT_MAX_SESSION_CALLS: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 500,
      description:
        'Limit of queued requests that create sessions, for one Tenant in one process. Requests that authorize sessions have a queue of their own, with the same limit. If the queue of creations is full, the IP network with the most requests in this queue gets 429 for one of them. If the queue of authorizations is full, the Application with the most requests in this queue gets 429 for one of them',
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
