export const serviceSettings = {
  LOG_LEVEL: {
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Least severity that is logged',
  },
  ADMIN_HOST: {
    type: 'string',
    default: '127.0.0.1',
    description: 'Address of /livez, /readyz and /metrics; 0.0.0.0 where probes and scrapers come from elsewhere',
  },
  SHUTDOWN_TIMEOUT_MS: {
    type: 'integer',
    minimum: 0,
    default: 10_000,
    description: 'How long a stop may take, after SHUTDOWN_DRAIN_MS, before the process exits anyway, in milliseconds',
  },
  STOP_WHEN_STDIN_CLOSES: {
    type: 'boolean',
    default: false,
    description: 'Stop when standard input ends, so that no service outlives its launcher',
  },
} as const;

export const httpSettings = {
  HOST: { type: 'string', default: '0.0.0.0', description: 'Address to listen on' },
  SHUTDOWN_DRAIN_MS: {
    type: 'integer',
    minimum: 0,
    maximum: 600_000,
    default: 3000,
    description: 'How long a stopping process still answers, with /readyz at 503, in milliseconds',
  },
  HEADER_PREFIX: {
    type: 'string',
    pattern: '^[A-Z][A-Z0-9]{0,31}$',
    default: 'SVC',
    description: 'First part of the names of our own headers, in capitals',
  },
} as const;

export const redisSettings = {
  REDIS_URL: {
    type: 'string',
    pattern: '^rediss?(\\+(cluster|sentinel))?://',
    writeOnly: true,
    description:
      'Redis or Valkey, for example redis://localhost:6379; a cluster is redis+cluster://host:port,host:port, Sentinels ' +
      'are redis+sentinel://host:port,host:port/name-of-the-master; rediss instead of redis is TLS',
  },
} as const;
