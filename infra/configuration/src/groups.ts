/** The chapters of the reference, in the order in which they are read. A setting belongs to exactly one. */
export interface Group {
  readonly title: string;
  readonly about?: string;
  readonly names: RegExp;
}

export const groups: readonly Group[] = [
  {
    title: 'Stores',
    names: /^(DATABASE|REDIS)_/,
  },
  {
    title: 'Keys and secrets',
    about:
      'If the root key is lost, the data is lost. Whoever can use the root key and has the database can read the data.',
    names: /^(ROOT_KEY|KEY|VAULT)_|^ROOT_KEY$/,
  },
  {
    title: 'Ledger of the audit log',
    names: /^(LEDGER|AUDIT)_/,
  },
  {
    title: 'Listening and addresses',
    about: 'The admin port has no authentication: keep it internal.',
    names: /^(PORT|HOST|ADMIN_PORT|ADMIN_HOST|(MANAGEMENT_API|PROXY_GATEWAY|TOKEN_VAULT)_URL)$/,
  },
  {
    title: 'Interface',
    names:
      /^(BASE_URL|(CONSOLE|FIELDS|ROUTES)_HOST|HEADER_PREFIX|CORS_ORIGINS|TRUSTED_PROXIES|SERVER_TIMING|INVOCATION_FEED)$/,
  },
  {
    title: 'Signing in',
    names: /^(CONSOLE_LINK_SIGN_IN|FAILED_SIGN_INS_.*|OIDC_.*)$/,
  },
  {
    title: 'Logging, start and stop',
    names: /^(LOG_LEVEL|SHUTDOWN_.*|STOP_.*)$/,
  },
  {
    title: 'Traces',
    about: 'What spans contain: [infra/monitoring](../monitoring/README.md).',
    names: /^(OTEL|TRACE)_/,
  },
  {
    title: 'Destinations',
    about: 'Which destinations the gateway may connect to, and how.',
    names: /^DESTINATION_/,
  },
  {
    title: 'Limits of requests',
    names: /^(APPLICATION|BODY|CLIENT|FORM|PUBLIC|RATE_LIMIT|STREAM|TENANT)_/,
  },
  {
    title: 'Transforms and reactors',
    names: /^(TRANSFORM|REACTOR)_/,
  },
  {
    title: 'Caches',
    about: 'Entries that do not fit into a cache are read from Postgres.',
    names: /^CACHE_/,
  },
  {
    title: 'Audit',
    names: /^DISCLOSURE_/,
  },
  {
    title: 'Jobs and sweeps',
    names: /^(JOB|SWEEP)_/,
  },
];
