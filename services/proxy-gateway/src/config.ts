import { bodyBytesSettings } from '@sluice/body-bytes';
import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { hostSettings } from '@sluice/hosts';
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
      description: 'Largest body that is buffered',
    },
    SERVER_TIMING: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'off',
      description: 'Whether a Server-Timing header gives the duration of each stage',
    },
    TRACE_CONTEXT_TO_DESTINATIONS: {
      type: 'boolean',
      default: false,
      description: "Whether destinations get our traceparent instead of the caller's",
    },
    DESTINATION_HEAD_TIMEOUT_MS: {
      ...milliseconds,
      default: 25_000,
      description: 'Time limit for the response head',
    },
    DESTINATION_CONNECT_TIMEOUT_MS: {
      ...milliseconds,
      default: 5000,
      description: 'Time limit for a connection',
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
      description: 'Connections of one Tenant to one destination, shared fairly by its Proxies and callers',
    },
    DESTINATION_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: 'Response headers, and trailers; otherwise 502',
    },
    DESTINATION_NAME_SERVERS: {
      type: 'string',
      default: '',
      description: 'Name servers (address or address:port, comma separated) instead of those of /etc/resolv.conf',
    },
    DESTINATION_LOOKUPS_PER_TENANT: {
      type: 'integer',
      minimum: 1,
      default: 4,
      description: 'Concurrent look-ups of names for one Tenant in one gateway',
    },
    DESTINATION_NAMES_REMEMBERED: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'Cached names in one gateway',
    },
    DESTINATION_NAME_MAX_AGE_SECONDS: {
      type: 'integer',
      minimum: 1,
      default: 30,
      description: "Longest time that a name's addresses are cached",
    },
    RATE_LIMIT_APPLICATION_PER_SECOND: {
      ...perSecond,
      description: 'Invocations of one Application; otherwise 429. 0: no limit',
    },
    RATE_LIMIT_PROXY_PER_SECOND: {
      ...perSecond,
      description: 'Invocations of one Proxy; otherwise 429. 0: no limit',
    },
    RATE_LIMIT_WINDOW_SECONDS: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 1,
      description: 'Window of these two limits; a burst may use all of it',
    },
    ...sharedLimitSettings,
    INVOCATION_FEED: {
      type: 'string',
      enum: ['on', 'off'],
      default: 'on',
      description: 'Whether Redis gets the last invocations and figures for GET /invocations',
    },
    TENANT_MAX_IN_FLIGHT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description: 'Concurrent invocations of one Tenant in one gateway; otherwise 503',
    },
    DESTINATION_MAX_WAITING: {
      type: 'integer',
      minimum: 0,
      default: 256,
      description: 'Calls of one Tenant that may wait for a connection to one destination; otherwise 503',
    },
    CLIENT_HEAD_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: "Time limit for a request's head; otherwise 408",
    },
    CLIENT_IDLE_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 60_000,
      description: 'Longest pause in sending a body or reading a response',
    },
    ...bodyBytesSettings,
    BODY_TIMEOUT_MS: {
      type: 'integer',
      minimum: 1,
      default: 120_000,
      description:
        'Time limit for receiving a buffered body, without the wait for memory. Then 408 if a transform needs it, ' +
        'otherwise it is streamed',
    },
    FORM_MAX_PAIRS: {
      ...count,
      default: 10_000,
      description:
        'Pairs of a form that a transform sees or returns; otherwise 400 (request), 502 (response) or 500 (result)',
    },
    BODY_MAX_EXPRESSIONS: {
      ...count,
      default: 10_000,
      description: 'Expressions of a buffered body and its transforms; otherwise 400',
    },
    TRANSFORM_HEADER_LINES: {
      ...count,
      default: 100,
      description: 'Header lines that a transform returns; otherwise 500',
    },
    TRANSFORM_REQUEST_HEADER_BYTES: {
      ...bytes,
      default: 16 * 1024,
      description: 'Headers that a request transform returns; otherwise 500',
    },
    TRANSFORM_RESPONSE_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: 'Headers that a response transform returns; otherwise 500',
    },
    TRANSFORM_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 3,
      description: 'Threads for transforms; one Tenant uses all but one',
    },
    TRANSFORM_QUEUE_LIMIT: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description: 'Batches of transforms that may wait for a thread',
    },
    TRANSFORM_WARM_BYTES: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description:
        'Memory of transforms and reactors that stay loaded between runs, in one process; then those of the thread that was used ' +
        'longest ago are unloaded. 0: a sixth of the memory limit',
    },
    ...transformSettings,
    REACTOR_THREADS: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 4,
      description:
        'Runs of reactors at a time, each with a thread; one Tenant has half. If its code used much CPU time or was killed within ' +
        'the last minute, it has a quarter, and all such Tenants half. Beyond that react is 503, and asynchronous runs wait',
    },
    REACTOR_WALL_MS: {
      ...milliseconds,
      default: 30_000,
      description: 'Duration of one call of react',
    },
    ...runSettings,
    TRANSFORM_BREAKER_KILLS: {
      type: 'integer',
      minimum: 0,
      maximum: 1000,
      default: defaultSuspension.kills,
      description: 'Kills within the window after which a transform is suspended; 0: never',
    },
    TRANSFORM_BREAKER_WINDOW_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.windowMs,
      description: 'Window in which kills count',
    },
    TRANSFORM_BREAKER_OPEN_MS: {
      type: 'integer',
      minimum: 1,
      default: defaultSuspension.suspendMs,
      description: 'How long a transform is suspended',
    },
    TRANSFORM_CONSOLE: {
      type: 'string',
      enum: ['redacted', 'off'],
      default: 'off',
      description: 'Whether console output is logged, without known secrets',
    },
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
