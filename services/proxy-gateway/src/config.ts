import { cacheSettings } from '@sluice/cache-coherence';
import { credentialSettings } from '@sluice/credentials';
import { destinationSettings } from '@sluice/destination-policy';
import { type Config as ConfigOf, serviceSettings, traceSettings } from '@sluice/service-runtime';
import { storeSettings, vaultConditions } from '@sluice/vault';
import { budgetSettings } from './budgets/budget-settings.ts';
import { nameSettings } from './destination/index.ts';
import { limitSettings } from './limits/limit-settings.ts';
import { transformSettings } from './transforms/transform-settings.ts';

const milliseconds = { type: 'integer', minimum: 1 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;

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
      description:
        'Whether destinations get a traceparent header of our trace; false passes on what the caller sent, as any header',
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
      description:
        'Most connections in use for each Tenant and destination; in turn among its Proxies and their callers',
    },
    DESTINATION_HEADER_BYTES: {
      ...bytes,
      default: 64 * 1024,
      description: 'Size of the headers of an answer of a destination, and of its trailers, in bytes; beyond 502',
    },
    DESTINATION_BREAKER_FAILURES: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description:
        'Connections to a destination that must fail in a row before calls to it are answered 503 for a while, for each ' +
        'Tenant; 0 switches this off',
    },
    DESTINATION_BREAKER_OPEN_MS: {
      ...milliseconds,
      default: 10_000,
      description: 'How long calls are then kept away before one tries again, in milliseconds',
    },
    ...nameSettings,
    ...limitSettings,
    ...budgetSettings,
    ...transformSettings,
  },
} as const;

export type Config = ConfigOf<typeof configSchema>;
