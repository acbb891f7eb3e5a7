import { bodyBytesSettings } from '@sluice/body-bytes';
import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { hostSettings } from '@sluice/http-api/hosts';
import { sharedLimitSettings } from '@sluice/rate-limits';
import { defaultSuspension, transformSettings } from '@sluice/sandbox';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
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
      description: 'Largest body that is held in memory to be read, in bytes',
    },
    SERVER_TIMING: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'off',
      description: 'Whether answers say in a Server-Timing header how long each stage took',
    },
    TRACE_CONTEXT_TO_DESTINATIONS: {
      type: 'boolean',
      default: false,
      description: "Whether destinations get our traceparent instead of the caller's",
    },
    DESTINATION_HEAD_TIMEOUT_MS: {
      ...milliseconds,
      default: 25_000,
      description: 'How long a destination may take to its response head, in milliseconds',
    },
    DESTINATION_CONNECT_TIMEOUT_MS: {
      ...milliseconds,
      default: 5000,
      description: 'How long a connection to a destination may take, in milliseconds',
    },
    DESTINATION_KEEP_ALIVE_MS: {
      ...milliseconds,
      default: 4000,
      description: 'How long an idle connection to a destination is kept, in milliseconds',
    },
    DESTINATION_MAX_CONNECTIONS: {
      type: 'integer',
      minimum: 1,
      default: 256,
      description: 'Most connections in use for each Tenant and destination; its Proxies and callers share them fairly',
    },
    DESTINATION_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: "Size of a destination's response headers, and of its trailers, in bytes; otherwise 502",
    },
    DESTINATION_NAME_SERVERS: {
      type: 'string',
      default: '',
      description:
        'Name servers for destinations, comma separated, as address or address:port; by default those of ' +
        '/etc/resolv.conf. The hosts file and search list always count',
    },
    DESTINATION_LOOKUPS_PER_TENANT: {
      type: 'integer',
      minimum: 1,
      default: 4,
      description: 'Most concurrent look-ups of destination names for each Tenant in one gateway; others wait',
    },
    DESTINATION_NAMES_REMEMBERED: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'Most names whose addresses one gateway remembers; the oldest go',
    },
    DESTINATION_NAME_MAX_AGE_SECONDS: {
      type: 'integer',
      minimum: 1,
      default: 30,
      description: 'Longest time that addresses of a name are remembered, in seconds; the shortest is 1',
    },
    RATE_LIMIT_APPLICATION_PER_SECOND: {
      ...perSecond,
      description: 'Invocations per second for each Application, over all gateways; otherwise 429; 0: no limit',
    },
    RATE_LIMIT_PROXY_PER_SECOND: {
      ...perSecond,
      description: 'Invocations per second for each Proxy, over all gateways; otherwise 429; 0: no limit',
    },
    RATE_LIMIT_WINDOW_SECONDS: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 1,
      description: 'Window in which invocations are counted, in seconds; a burst may use all of it',
    },
    ...sharedLimitSettings,
    INVOCATION_FEED: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'on',
      description:
        'Whether gateways write the last invocations and the figures of each Tenant to Redis, for GET /invocations',
    },
    TENANT_MAX_IN_FLIGHT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description: 'Most invocations that one Tenant may have under way in one gateway; otherwise 503',
    },
    DESTINATION_MAX_WAITING: {
      type: 'integer',
      minimum: 0,
      default: 256,
      description:
        'Most calls that wait for one of DESTINATION_MAX_CONNECTIONS, for each Tenant and destination; otherwise 503',
    },
    CLIENT_HEAD_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'How long a client may take to send the head of a request, in milliseconds; otherwise 408',
    },
    CLIENT_IDLE_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 60_000,
      description: 'How long a client may send nothing of a body, or read nothing of its response, in milliseconds',
    },
    ...bodyBytesSettings,
    BODY_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 120_000,
      description:
        'Time limit for receiving a buffered body, in milliseconds, not counting time spent waiting for memory. When it ' +
        'expires: 408 if a transform needs the body, otherwise the body is streamed',
    },
    FORM_MAX_PAIRS: {
      ...count,
      default: 10_000,
      description:
        'Most pairs of a form that a transform sees or returns; otherwise 400 for a request, 502 for a ' +
        'response, 500 for a result',
    },
    BODY_MAX_EXPRESSIONS: {
      ...count,
      default: 10_000,
      description: 'Most expressions of a body that is held, with those that its transforms detokenize; otherwise 400',
    },
    TRANSFORM_HEADER_LINES: {
      ...count,
      default: 100,
      description: 'Most lines of headers that a transform returns; otherwise 500',
    },
    TRANSFORM_REQUEST_HEADER_BYTES: {
      ...bytes,
      default: 16 * 1024,
      description: 'Size of the headers that a request transform returns, in bytes; otherwise 500',
    },
    TRANSFORM_RESPONSE_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: 'Size of the headers that a response transform returns, in bytes; otherwise 500',
    },
    TRANSFORM_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 3,
      description: 'Threads that run transforms; one Tenant uses at most all but one',
    },
    TRANSFORM_QUEUE_LIMIT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description: 'Most batches of transforms that wait for a thread',
    },
    ...transformSettings,
    REACTOR_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 4,
      description:
        'Threads that run reactors, whose code may wait for destinations; one Tenant uses at most half of them, beyond which ' +
        'react is 503 and asynchronous runs wait',
    },
    REACTOR_WALL_MS: {
      ...milliseconds,
      default: 30_000,
      description: 'Duration of one call of react, in milliseconds',
    },
    ...runSettings,
    TRANSFORM_BREAKER_KILLS: {
      type: 'integer',
      minimum: 0,
      maximum: 1000,
      default: defaultSuspension.kills,
      description: 'A transform is suspended after this many kills within the window; 0: never',
    },
    TRANSFORM_BREAKER_WINDOW_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.windowMs,
      description: 'The window in which kills are counted, in milliseconds',
    },
    TRANSFORM_BREAKER_OPEN_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.suspendMs,
      description: 'How long a transform is suspended before it is tried again, in milliseconds',
    },
    TRANSFORM_CONSOLE: {
      type: 'string',
      enum: ['redacted', 'off'],
      default: 'off',
      description:
        'Whether the console output of transforms is logged, with known secrets redacted. `npm start` sets ' +
        'redacted',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
