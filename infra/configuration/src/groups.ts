/** The chapters of the reference, in the order in which they are read. A setting belongs to exactly one. */
export interface Group {
  readonly title: string;
  readonly about: string;
  readonly names: RegExp;
}

export const groups: readonly Group[] = [
  {
    title: 'Stores',
    about: 'Where the data is, and how many connections each process opens to it.',
    names: /^(DATABASE|REDIS)_/,
  },
  {
    title: 'Keys and secrets',
    about: 'Without them the data is lost; together with the database they reveal it.',
    names: /^(ROOT_KEY|KEY|VAULT)_|^ROOT_KEY$/,
  },
  {
    title: 'Ledger of the audit log',
    about: 'Signed checkpoints and their retention.',
    names: /^(LEDGER|AUDIT)_/,
  },
  {
    title: 'Listening and addresses',
    about: 'The admin port has no authentication: keep it internal.',
    names: /^(PORT|HOST|ADMIN_PORT|ADMIN_HOST|(MANAGEMENT_API|PROXY_GATEWAY|TOKEN_VAULT)_URL)$/,
  },
  {
    title: 'Interface',
    about: 'What clients see of it.',
    names:
      /^(BASE_URL|(CONSOLE|FIELDS|ROUTES)_HOST|HEADER_PREFIX|CORS_ORIGINS|TRUSTED_PROXIES|SERVER_TIMING|INVOCATION_FEED)$/,
  },
  {
    title: 'Signing in',
    about: 'Who may sign in to the console, and how often an address may fail.',
    names: /^(CONSOLE_LINK_SIGN_IN|FAILED_SIGN_INS_.*|OIDC_.*)$/,
  },
  {
    title: 'Logging, start and stop',
    about: 'The life of a process.',
    names: /^(LOG_LEVEL|SHUTDOWN_.*|STOP_.*)$/,
  },
  {
    title: 'Traces',
    about: 'What spans contain: [infra/monitoring](../monitoring/README.md).',
    names: /^(OTEL|TRACE)_/,
  },
  {
    title: 'Destinations',
    about: 'Where the gateway may connect to; the management API checks Proxies by the same.',
    names: /^DESTINATION_/,
  },
  {
    title: 'Limits of requests',
    about: 'How much one body, client, Application, Proxy or Tenant may ask of a service.',
    names: /^(APPLICATION|BODY|CLIENT|FORM|PUBLIC|RATE_LIMIT|STREAM|TENANT)_/,
  },
  {
    title: 'Transforms and reactors',
    about: "What a Tenant's code may use, in the gateway and where it is tried.",
    names: /^(TRANSFORM|REACTOR)_/,
  },
  {
    title: 'Caches',
    about: 'How much is kept in memory under a lease; what does not fit is read from Postgres.',
    names: /^CACHE_/,
  },
  {
    title: 'Audit',
    about: 'How the rows of disclosures get into Postgres.',
    names: /^DISCLOSURE_/,
  },
  {
    title: 'Jobs and sweeps',
    about: 'What time drives.',
    names: /^(JOB|SWEEP)_/,
  },
];
