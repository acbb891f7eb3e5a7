import { sharedLimitSettings } from '@sluice/rate-limits';

const perSecond = { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 } as const;

export const limitSettings = {
  RATE_LIMIT_APPLICATION_PER_SECOND: {
    ...perSecond,
    description: 'Invocations per second for each Application, over all gateways; beyond 429; 0: no limit',
  },
  RATE_LIMIT_PROXY_PER_SECOND: {
    ...perSecond,
    description: 'Invocations per second for each Proxy, over all gateways; beyond 429; 0: no limit',
  },
  RATE_LIMIT_WINDOW_SECONDS: {
    type: 'integer',
    minimum: 1,
    maximum: 3600,
    default: 1,
    description: 'Invocations are counted over so many seconds: a burst may use up what the whole window allows',
  },
  ...sharedLimitSettings,
  TENANT_MAX_IN_FLIGHT: {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Most invocations that one Tenant may have under way in one gateway; beyond 503',
  },
  DESTINATION_MAX_WAITING: {
    type: 'integer',
    minimum: 0,
    default: 256,
    description:
      'Most calls that wait for one of DESTINATION_MAX_CONNECTIONS, for each Tenant and destination; beyond 503',
  },
  CLIENT_HEAD_TIMEOUT_MS: {
    type: 'integer',
    minimum: 1,
    default: 10_000,
    description: 'How long a client may take to send the head of a request, in milliseconds; beyond 408',
  },
  CLIENT_IDLE_TIMEOUT_MS: {
    type: 'integer',
    minimum: 1,
    default: 60_000,
    description:
      'How long a client may send nothing of a body that is awaited, or take nothing of its answer, in milliseconds',
  },
} as const;
