import { join } from 'node:path';
import { freePort } from '@sluice/service-runtime/free-port';
import type { LedgerKey, Secrets } from './secrets.ts';

export interface ServiceAddress {
  port: number;
  adminPort: number;
}

export type ServiceName = 'management-api' | 'token-vault' | 'proxy-gateway' | 'worker' | 'ingress';

export interface StackSettings {
  databaseUrl: string;
  redisUrl: string;
  secrets: Secrets;
  ledgerKey: LedgerKey;
  addresses: Record<ServiceName, ServiceAddress>;
  /** Each process that discloses has its own folder in it for rows of the audit log. */
  spoolDirectory: string;
  /** Added to the environment of every service, where it wins. */
  environment: Record<string, string>;
  /** Settings of single services, which win over all others. */
  settingsOf?: Partial<Record<ServiceName, Record<string, string>>> | undefined;
}

export interface ServiceDescription {
  name: ServiceName;
  /** Folder of the repository that holds `src/main.ts`. */
  folder: string;
  /** Settings besides those that all services have. */
  settings: (stack: StackSettings) => Record<string, string>;
}

/** How Node.js is started for a service, here and in its image; infra/README.md says why. */
export const nodeOptions: readonly string[] = ['--v8-pool-size=0', '--heap-growing-percent=30'];

/**
 * How glibc allocates for a service, here and in its image: large blocks return to the system at once, instead of
 * staying in one of eight arenas for each core. infra/README.md gives the effect.
 */
export const allocatorEnvironment: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

const stores = ({ databaseUrl, redisUrl }: StackSettings) => ({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });

const vaultSettings = (stack: StackSettings) => ({
  ...stores(stack),
  ...stack.secrets,
  KEY_ENVIRONMENT: 'local',
});

/** Settings with which commands on keys and tokens reach this stack: those of its services for stores and keys. */
export function commandSettings(stack: StackSettings): Record<string, string> {
  const given = Object.entries(stack.settingsOf?.['management-api'] ?? {});
  return {
    ...vaultSettings(stack),
    ...signingIn(stack),
    ...Object.fromEntries(given.filter(([name]) => ofStoresAndKeys.test(name))),
  };
}

const ofStoresAndKeys = /^(DATABASE|REDIS|KEY|ROOT_KEY|VAULT)_/;

const spool = ({ spoolDirectory }: StackSettings, name: ServiceName) => ({
  DISCLOSURE_SPOOL_DIRECTORY: join(spoolDirectory, name),
});

/** Destinations on this machine may be called; cloud metadata addresses stay denied. */
const destinations = {
  DESTINATION_SCHEMES: 'http,https',
  DESTINATION_ALLOW: 'loopback,private,single-label,host.docker.internal',
};

/** For links to the service, and the name of the ledger. */
const baseUrl = ({ addresses }: StackSettings) => ({ BASE_URL: localUrl(addresses.ingress.port) });

/** Browsers find `*.localhost` on this machine by themselves. Every service that answers requests has the same hosts. */
const hosts = ({ addresses }: StackSettings) => {
  const { port } = addresses.ingress;
  return {
    CONSOLE_HOST: `console.localhost:${port}`,
    FIELDS_HOST: `fields.localhost:${port}`,
    ROUTES_HOST: `routes.localhost:${port}`,
  };
};

/** Where browsers find the hosted fields of a stack. */
export function fieldsOrigin(baseUrl: string): string {
  return `http://fields.localhost:${new URL(baseUrl).port}`;
}

/** Whoever can read this folder has the stack anyway. */
const linkSignIn = { CONSOLE_LINK_SIGN_IN: 'true' };

const signingIn = (stack: StackSettings) => ({ CONSOLE_HOST: hosts(stack).CONSOLE_HOST, ...linkSignIn });

const behindIngress = { TRUSTED_PROXIES: '127.0.0.0/8' };

/** Each service receives only the settings that it needs. */
export const services: readonly ServiceDescription[] = [
  {
    name: 'management-api',
    folder: 'services/management-api',
    settings: (stack) => ({
      ...vaultSettings(stack),
      ...spool(stack, 'management-api'),
      ...destinations,
      ...behindIngress,
      ...hosts(stack),
      ...linkSignIn,
      ...baseUrl(stack),
      LEDGER_PUBLIC_KEYS: stack.ledgerKey.publicKey,
    }),
  },
  {
    name: 'token-vault',
    folder: 'services/token-vault',
    settings: (stack) => ({
      ...vaultSettings(stack),
      ...spool(stack, 'token-vault'),
      ...behindIngress,
      ...hosts(stack),
    }),
  },
  {
    name: 'proxy-gateway',
    folder: 'services/proxy-gateway',
    settings: (stack) => ({
      ...vaultSettings(stack),
      ...spool(stack, 'proxy-gateway'),
      ...destinations,
      ...hosts(stack),
      ...baseUrl(stack),
      TRANSFORM_CONSOLE: 'redacted',
    }),
  },
  {
    name: 'worker',
    folder: 'services/worker',
    settings: (stack) => ({ ...stores(stack), ...baseUrl(stack), LEDGER_KEY_FILE: stack.ledgerKey.file }),
  },
  {
    name: 'ingress',
    folder: 'infra/ingress',
    settings: (stack) => ({
      ...hosts(stack),
      MANAGEMENT_API_URL: localUrl(stack.addresses['management-api'].port),
      TOKEN_VAULT_URL: localUrl(stack.addresses['token-vault'].port),
      PROXY_GATEWAY_URL: localUrl(stack.addresses['proxy-gateway'].port),
    }),
  },
];

export function serviceEnvironment(
  { name, settings }: ServiceDescription,
  stack: StackSettings,
): Record<string, string> {
  const { port, adminPort } = stack.addresses[name];
  return {
    ...allocatorEnvironment,
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: String(adminPort),
    STOP_WHEN_STDIN_CLOSES: 'true',
    SHUTDOWN_DRAIN_MS: '0', // no balancer has to notice, and a person waits after Ctrl-C
    ...settings(stack),
    ...stack.environment,
    ...stack.settingsOf?.[name],
  };
}

/** The names that a stack sets itself. */
export function settingsOfLauncher(): Set<string> {
  const address = { port: 0, adminPort: 0 };
  const stack: StackSettings = {
    databaseUrl: '',
    redisUrl: '',
    secrets: { KEY_PEPPER: '', ROOT_KEY: '' },
    ledgerKey: { file: '', publicKey: '' },
    addresses: {
      'management-api': address,
      'token-vault': address,
      'proxy-gateway': address,
      worker: address,
      ingress: address,
    },
    spoolDirectory: '',
    environment: {},
  };
  const names = services.flatMap((service) => Object.keys(serviceEnvironment(service, stack)));
  return new Set(names.map((name) => name.replace(/_FILE$/, '')));
}

/** Free ports for all services but the ingress, whose port is that of the base URL. */
export async function findAddresses(ingressPort: number): Promise<Record<ServiceName, ServiceAddress>> {
  const any = async () => ({ port: await freePort(), adminPort: await freePort() });
  return {
    'management-api': await any(),
    'token-vault': await any(),
    'proxy-gateway': await any(),
    worker: await any(),
    ingress: { port: ingressPort, adminPort: await freePort() },
  };
}

export function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
