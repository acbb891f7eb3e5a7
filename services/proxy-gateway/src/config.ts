import { bodyBytesSettings } from '@sluice/body-bytes';
import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { hostSettings } from '@sluice/hosts';
import { sharedLimitSettings } from '@sluice/rate-limits';
import { defaultSuspension, transformSettings } from '@sluice/sandbox';
import { baseUrlSetting, type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings } from '@sluice/stores';
import { vaultConditions } from '@sluice/vault';
import { runSettings } from './reactors/runs/run.settings.ts';

const milliseconds = { type: 'integer', minimum: 1 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const;
const perSecond = { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 } as const;

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
    ...destinationSettings,
    ...hostSettings,
    ...baseUrlSetting,
    PORT: { type: 'integer', minimum: 0, maximum: 65535, default: 8083, description: 'Port to listen on' },
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      default: 9083,
      description: 'Port of /livez, /readyz and /metrics',
    },
    BODY_LIMIT_BYTES: {
      ...bytes,
      default: 5 * 1024 * 1024,
      description:
        'Size limit of a buffered body. A larger body is streamed. If a transform needs the body, the response is 413 instead',
    },
    SERVER_TIMING: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'off',
      description: 'Whether responses have a Server-Timing header with the duration of each stage',
    },
    TRACE_CONTEXT_TO_DESTINATIONS: {
      type: 'boolean',
      default: false,
      description: 'Whether destinations get the traceparent of Sluice instead of the one of the caller',
    },
    DESTINATION_HEAD_TIMEOUT_MS: {
      ...milliseconds,
      default: 25_000,
      description:
        'Time limit until the destination sends the head of its response, for Proxies without head_timeout_s. If it is exceeded, the response is 504',
    },
    DESTINATION_CONNECT_TIMEOUT_MS: {
      ...milliseconds,
      default: 5000,
      description: 'Time limit for connecting to a destination. If it is exceeded, the response is 504',
    },
    DESTINATION_KEEP_ALIVE_MS: {
      ...milliseconds,
      default: 4000,
      description: 'How long an idle connection stays open',
    },
    DESTINATION_MAX_CONNECTIONS: {
      type: 'integer',
      minimum: 1,
      default: 256,
      description:
        'Limit of connections of one Tenant to one destination. They are shared fairly by its Proxies and callers',
    },
    DESTINATION_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description:
        'Size limit of the headers of a response of a destination. The trailers of the response have a separate limit of the same size. If one of the two limits is exceeded, the response is 502. If the response to the caller has already begun, the connection is closed instead',
    },
    DESTINATION_NAME_SERVERS: {
      type: 'string',
      default: '',
      description: 'Name servers: address or address:port, comma separated. Default: those of /etc/resolv.conf',
    },
    DESTINATION_LOOKUPS_PER_TENANT: {
      type: 'integer',
      minimum: 1,
      default: 4,
      description: 'Limit of concurrent name look-ups of one Tenant in one gateway. Further ones are queued',
    },
    DESTINATION_NAMES_REMEMBERED: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'Limit of cached names in one gateway',
    },
    DESTINATION_NAME_MAX_AGE_SECONDS: {
      type: 'integer',
      minimum: 1,
      default: 30,
      description: 'Longest time for which the addresses of a name are cached',
    },
    RATE_LIMIT_APPLICATION_PER_SECOND: {
      ...perSecond,
      description:
        'Limit of invocations per second of one Application. If it is exceeded, the response is 429. 0: no limit',
    },
    RATE_LIMIT_PROXY_PER_SECOND: {
      ...perSecond,
      description: 'Limit of invocations per second of one Proxy. If it is exceeded, the response is 429. 0: no limit',
    },
    RATE_LIMIT_WINDOW_SECONDS: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 1,
      description:
        'Length of the window in which invocations are counted for RATE_LIMIT_APPLICATION_PER_SECOND and RATE_LIMIT_PROXY_PER_SECOND. The limit of one window is the limit per second multiplied by this length. All invocations of a window may come at once',
    },
    ...sharedLimitSettings,
    INVOCATION_FEED: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'on',
      description: 'Whether gateways send the latest invocations and figures to Redis, for GET /invocations',
    },
    TENANT_MAX_IN_FLIGHT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description:
        'Limit of concurrent invocations of one Tenant in one gateway. If it is exceeded, the response is 503',
    },
    DESTINATION_MAX_WAITING: {
      type: 'integer',
      minimum: 0,
      default: 256,
      description:
        'Limit of calls of one Tenant that are queued for a connection to one destination. If it is exceeded, the response is 503',
    },
    CLIENT_HEAD_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'Time limit for receiving the head of a request. If it is exceeded, the response is 408',
    },
    CLIENT_IDLE_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 60_000,
      description: 'Longest pause of a client while it sends a body or reads a response. Then the connection is closed',
    },
    ...bodyBytesSettings,
    BODY_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 120_000,
      description:
        'Time limit for receiving a buffered body, not counting time spent waiting for memory. If it is exceeded, ' +
        'the body is streamed. If a transform needs the body, the response is 408 instead',
    },
    FORM_MAX_PAIRS: {
      ...count,
      default: 10_000,
      description:
        'Limit of name-value pairs in a form body that a transform gets or returns. If the body of the request exceeds the limit, the response is 400. If the body that the destination sent exceeds it, the response is 502. If the body that the transform returned exceeds it, the response is 500',
    },
    BODY_MAX_EXPRESSIONS: {
      ...count,
      default: 10_000,
      description:
        'Limit of expressions in one invocation. Expressions in the request and in the detokenize calls of the transforms are counted together. If the limit is exceeded, the response is 400',
    },
    TRANSFORM_HEADER_LINES: {
      ...count,
      default: 100,
      description: 'Limit of header lines that a transform returns. If it is exceeded, the response is 500',
    },
    TRANSFORM_REQUEST_HEADER_BYTES: {
      ...bytes,
      default: 16 * 1024,
      description: 'Limit of headers that a request transform returns. If it is exceeded, the response is 500',
    },
    TRANSFORM_RESPONSE_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: 'Limit of headers that a response transform returns. If it is exceeded, the response is 500',
    },
    TRANSFORM_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 3,
      description: 'Number of threads for transforms. One Tenant may use all of them except one',
    },
    TRANSFORM_QUEUE_LIMIT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description:
        'Limit of batches of transform runs that wait for a free thread. If it is exceeded, the response is 503',
    },
    TRANSFORM_WARM_BYTES: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description:
        'Memory in one process for code that stays loaded between runs. If this memory is full, the code of the least recently used thread is unloaded. With 0, the size is a sixth of the memory limit of the process',
    },
    ...transformSettings,
    REACTOR_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 4,
      description:
        'Limit of concurrent runs of reactors. Each run has a thread of its own. One Tenant may use half of the threads. Slow Tenants may use less: one slow Tenant a quarter of the threads, and all slow Tenants together half of the threads. A Tenant is slow if, within the last minute, its code used much CPU time or was killed. If no thread is free, react returns 503, and asynchronous runs stay queued',
    },
    REACTOR_WALL_MS: {
      ...milliseconds,
      default: 30_000,
      description: 'Time limit of one call of react',
    },
    ...runSettings,
    TRANSFORM_BREAKER_KILLS: {
      type: 'integer',
      minimum: 0,
      maximum: 1000,
      default: defaultSuspension.kills,
      description:
        'Code is suspended when this number of its runs are killed within TRANSFORM_BREAKER_WINDOW_MS. 0: code is never suspended',
    },
    TRANSFORM_BREAKER_WINDOW_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.windowMs,
      description: 'Window in which killed runs are counted for TRANSFORM_BREAKER_KILLS',
    },
    TRANSFORM_BREAKER_OPEN_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.suspendMs,
      description: 'How long code stays suspended',
    },
    TRANSFORM_CONSOLE: {
      type: 'string',
      enum: ['redacted', 'off'],
      default: 'off',
      description:
        '`redacted`: console output of code is logged, with known secrets removed. `off`: console output is not logged',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
