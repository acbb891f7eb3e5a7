import { randomBytes } from 'node:crypto';
import {
  type Config,
  type ConfigSchema,
  Readiness,
  readConfig,
  type Start,
  serviceLogger,
} from '@sluice/service-runtime';
import { Registry } from 'prom-client';
import { testRedisUrl } from './test-redis.ts';

export interface TestSecrets {
  KEY_PEPPER: string;
  ROOT_KEY: string;
}

export function randomSecrets(): TestSecrets {
  return { KEY_PEPPER: randomBytes(32).toString('hex'), ROOT_KEY: randomBytes(32).toString('base64') };
}

export interface TestServiceOptions {
  databaseUrl: string;
  secrets: TestSecrets;
  stack: AsyncDisposableStack;
  settings?: Record<string, string>;
  /** Aborted to make the service drain, as at the beginning of a stop. */
  draining?: AbortSignal;
  onLogLine?: (line: string) => void;
}

/** Starts it inside the test's process on a free port, with real stores. Closes with the stack. */
export async function startTestService<const S extends ConfigSchema>(
  { configSchema, start }: { configSchema: S; start: Start<Config<S>> },
  {
    databaseUrl,
    secrets,
    stack,
    settings = {},
    draining = new AbortController().signal,
    onLogLine,
  }: TestServiceOptions,
): Promise<{ url: string; metrics: Registry; readiness: Readiness }> {
  const config = readConfig(configSchema, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: testRedisUrl(),
    ...secrets,
    HOST: '127.0.0.1',
    PORT: '0',
    KEY_ENVIRONMENT: 'test',
    DESTINATION_SCHEMES: 'http,https',
    DESTINATION_ALLOW: 'loopback',
    // On a busy machine a connection or a thread may take half a minute for a second of CPU time.
    DATABASE_WAIT_MS: '20000',
    TRANSFORM_WALL_MS: '300000',
    REACTOR_WALL_MS: '300000',
    CACHE_MAX_ENTRIES: '1000', // memory for all of them is taken at the start
    ...settings,
  });
  const log = serviceLogger(
    { service: 'test', level: onLogLine ? 'trace' : 'silent' },
    { write: (line: string) => onLogLine?.(line) },
  );
  const metrics = new Registry();
  const readiness = new Readiness();
  const { port } = await start(config, { log, stack, readiness, draining, metrics });
  readiness.state = 'running';
  return { url: `http://127.0.0.1:${port}`, metrics, readiness };
}
