export const serviceSettings = {
  LOG_LEVEL: {
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Lowest severity that is logged',
  },
  ADMIN_HOST: {
    type: 'string',
    default: '127.0.0.1',
    description: 'Address of /livez, /readyz and /metrics; 0.0.0.0 if probes come from elsewhere',
  },
  SHUTDOWN_TIMEOUT_MS: {
    type: 'integer',
    minimum: 0,
    default: 10_000,
    description: 'Time from SHUTDOWN_DRAIN_MS to a forced exit',
  },
  STOP_WHEN_STDIN_CLOSES: {
    type: 'boolean',
    default: false,
    description: 'Whether the process stops when its launcher ends',
  },
} as const;

export const httpSettings = {
  HOST: { type: 'string', default: '0.0.0.0', description: 'Address to listen on' },
  SHUTDOWN_DRAIN_MS: {
    type: 'integer',
    minimum: 0,
    maximum: 600_000,
    default: 3000,
    description: 'How long a stopping process still serves requests, with /readyz at 503',
  },
  HEADER_PREFIX: {
    type: 'string',
    pattern: '^[A-Z][A-Z0-9]{0,31}$',
    default: 'SVC',
    description: 'Prefix of our own headers',
  },
} as const;
