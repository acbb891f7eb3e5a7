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
    about:
      'What opens the vault and recognizes keys. Lost, the data is lost; revealed together with the database, the data is revealed.',
    names: /^(ROOT_KEY|KEY|VAULT)_|^ROOT_KEY$/,
  },
  {
    title: 'Ledger of the audit log',
    about:
      'What signs its checkpoints, and what they are called by. Verifiers trust the public keys that they are given.',
    names: /^(LEDGER|AUDIT)_/,
  },
  {
    title: 'Listening and addresses',
    about:
      'Where a process listens, and where the ingress sends what. The admin port has no authentication: keep it inside.',
    names: /^(PORT|HOST|ADMIN_PORT|ADMIN_HOST|(MANAGEMENT_API|PROXY_GATEWAY|TOKEN_VAULT)_URL)$/,
  },
  {
    title: 'Interface',
    about: 'What clients see of it.',
    names: /^(BASE_URL|HEADER_PREFIX|CORS_ORIGINS|TRUSTED_PROXIES|SERVER_TIMING)$/,
  },
  {
    title: 'Logging, start and stop',
    about: 'The life of a process.',
    names: /^(LOG_LEVEL|SHUTDOWN_.*|STOP_.*)$/,
  },
  {
    title: 'Traces',
    about:
      'Spans for a collector of OpenTelemetry; off until it is named. What they hold: [infra/monitoring](../monitoring/README.md).',
    names: /^(OTEL|TRACE)_/,
  },
  {
    title: 'Destinations',
    about:
      'Where the gateway may connect to, and how long it waits there. The management API checks a Proxy by the same.',
    names: /^DESTINATION_/,
  },
  {
    title: 'Limits of requests',
    about: 'How much one body, client, Application, Proxy or Tenant may ask of a service.',
    names: /^(APPLICATION|BODY|CLIENT|FORM|PUBLIC|RATE_LIMIT|STREAM|TENANT)_/,
  },
  {
    title: 'Transforms',
    about: "What a Tenant's code may use, in the gateway and where it is tried.",
    names: /^TRANSFORM_/,
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
