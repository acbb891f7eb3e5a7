export const redisSettings = {
  REDIS_URL: {
    type: 'string',
    pattern: '^rediss?(\\+(cluster|sentinel))?://',
    format: 'ports',
    writeOnly: true,
    description:
      'URL of Redis or Valkey: redis://host:6379, redis+cluster://host:port,host:port or ' +
      'redis+sentinel://host:port,host:port/master; rediss for TLS',
  },
} as const;
