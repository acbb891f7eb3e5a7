export const serviceSettings = {
  LOG_LEVEL: {
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Lowest level of messages that are logged',
  },
  ADMIN_HOST: {
    type: 'string',
    default: '127.0.0.1',
    description:
      'Address at which /livez, /readyz and /metrics are served. Use 0.0.0.0 if probes come from another host',
  },
  SHUTDOWN_TIMEOUT_MS: {
    type: 'integer',
    minimum: 0,
    default: 10_000,
    description: 'Time limit for open requests after SHUTDOWN_DRAIN_MS. Then the process exits',
  },
  STOP_WHEN_STDIN_CLOSES: {
    type: 'boolean',
    default: false,
    description: 'Whether the process stops when its standard input is closed, for example because its launcher ended',
  },
} as const;

export const httpSettings = {
  HOST: { type: 'string', default: '0.0.0.0', description: 'Address to listen on' },
  SHUTDOWN_DRAIN_MS: {
    type: 'integer',
    minimum: 0,
    maximum: 600_000,
    default: 3000,
    description:
      'For this time, a process that is told to stop continues to serve requests. During this time /readyz returns 503',
  },
  HEADER_PREFIX: {
    type: 'string',
    pattern: '^[A-Z][A-Z0-9]{0,31}$',
    default: 'SVC',
    description: 'Prefix of the headers of Sluice',
  },
} as const;

export const baseUrlSetting = {
  BASE_URL: {
    type: 'string',
    pattern: '^https?://[^/]+/?$',
    format: 'url',
    description:
      'URL of the service for clients. Links in responses of routes begin with this URL. If LEDGER_ORIGIN is not set, ' +
      'host and port of this URL are the name of the ledger',
  },
} as const;
