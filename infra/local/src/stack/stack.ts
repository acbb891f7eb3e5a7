import type { ChildProcess } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort, tryPort } from '@sluice/service-runtime/free-port';
import { allOrThrow } from '../all-or-throw.ts';
import { buildConsole } from '../build-console.ts';
import { errorCode, LaunchError } from '../launch-error.ts';
import { writePrivateFile } from '../private-file.ts';
import { startWatchdog } from '../processes/watchdog.ts';
import { startStores } from '../stores/stores.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import { lockFolder } from './lock.ts';
import { migrateDatabase } from './migrations.ts';
import { readLedgerKey, readSecrets } from './secrets.ts';
import { serviceProcesses } from './service-processes.ts';
import {
  commandSettings,
  findAddresses,
  localUrl,
  type ServiceAddress,
  type StackSettings,
  services,
} from './services.ts';
import { createSignInLink } from './sign-in-link.ts';
import { Supervisor } from './supervisor.ts';

export interface StackOptions {
  /** Holds data, secrets, credentials and logs; created if it does not exist. */
  directory: string;
  /** The port of the base URL; 0 for any free one. */
  port: number;
  /** Called for steps that take long. */
  log: (line: string) => void;
  /** Added to the environment of every service, where it wins: `LOG_LEVEL`, `HEADER_PREFIX`, limits. */
  environment?: Record<string, string>;
  /** Settings of single services, which win over all others. */
  settingsOf?: StackSettings['settingsOf'];
  /** An existing Redis, instead of a private one. */
  redisUrl?: string | undefined;
  /** Settings of postgresql.conf, added to the defaults. */
  postgresSettings?: Record<string, string>;
  /** Starts a pooler before this Postgres; the services connect to the address that it resolves with. */
  openPooler?: (databaseUrl: string) => Promise<string>;
  /** Starts a process again that ends unexpectedly, unless it does so five times within a minute. */
  restarts?: boolean;
  /** Aborts the start. */
  signal?: AbortSignal | undefined;
}

interface ServiceUrls {
  managementApi: string;
  tokenVault: string;
  proxyGateway: string;
}

export interface Stack {
  baseUrl: string;
  credentials: Credentials;
  /** Each service itself, bypassing the ingress. */
  serviceUrls: ServiceUrls;
  /** Where each of them answers `/readyz` and `/metrics`. */
  adminUrls: ServiceUrls;
  databaseUrl: string;
  redisUrl: string;
  /** By name: the services, and the private stores. */
  readonly processes: ReadonlyMap<string, ChildProcess>;
  /** Resolves with a message for people when a process has ended unexpectedly and is not started again. */
  died: Promise<string>;
  /** Restarts an ended process at the same place; resolves when it is ready. */
  restart(name: string): Promise<void>;
  /** Makes a one-time link to the console. @throws {CommandError} where the Tenant of the credentials was deleted. */
  signInLink(): Promise<string>;
  /** Stops services (they have 10 s), then stores; resolves when all processes have ended. */
  close(): Promise<void>;
}

/**
 * Starts the whole platform on this machine. No process stays behind when this fails, or when this process dies.
 * @throws {LaunchError} when it cannot start; the message says why, and what to do.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { directory, log, environment = {}, restarts = false } = options;
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, ...(options.signal ? [options.signal] : [])]);
  const port = options.port || (await freePort());
  await assertPortFree(port);
  await ensureFolder(directory);

  await using opened = new AsyncDisposableStack();
  await lockFolder(directory, opened);
  const watchdog = opened.adopt(await startWatchdog(), (started) => started.close());
  const bounds = { signal, watchdog };
  await buildConsole(log, bounds);
  const stores = opened.adopt(await startStores({ ...options, signal, watchdog }), (started) => started.close());
  const { databaseUrl, redisUrl } = stores;

  log('Migrating the database');
  await migrateDatabase(databaseUrl, bounds);
  const secrets = await readSecrets(directory);
  const settings: StackSettings = {
    databaseUrl,
    redisUrl,
    secrets,
    ledgerKey: await readLedgerKey(directory),
    addresses: await findAddresses(port),
    spoolDirectory: join(directory, 'spool'),
    environment,
    settingsOf: options.settingsOf,
  };
  await writeEnvironmentFile(directory, settings);
  const baseUrl = localUrl(port);
  const credentials = await readCredentials({ directory, baseUrl, settings }, bounds);

  log('Starting the services');
  const logFile = (name: string) => join(directory, 'logs', `${name}.log`);
  const served = { ...settings, databaseUrl: (await options.openPooler?.(databaseUrl)) ?? databaseUrl };
  const running = serviceProcesses({ settings: served, logFile, watchdog, signal });
  opened.defer(() => running.close());
  await allOrThrow(services.map(({ name }) => running.spawn(name)));
  await Promise.all(services.map(({ name }) => running.untilReady(name)));

  const processes = () => new Map([...stores.processes, ...running.running]);
  const restart = async (name: string) => {
    if (stores.processes.has(name)) return stores.restart(name);
    await running.spawn(name);
    await running.untilReady(name);
  };
  const supervisor = new Supervisor({ logFile, log, processes, restart, restarts, signal });
  opened.defer(async () => {
    closing.abort();
    await supervisor.untilIdle();
  });
  for (const name of processes().keys()) supervisor.watch(name);
  const owned = opened.move();
  return {
    baseUrl,
    credentials,
    serviceUrls: urlsOf(settings, 'port'),
    adminUrls: urlsOf(settings, 'adminPort'),
    databaseUrl,
    redisUrl,
    get processes() {
      return processes();
    },
    died: supervisor.died,
    restart,
    signInLink: () => createSignInLink(settings, credentials.tenant_id, bounds),
    close: () => owned.disposeAsync(),
  };
}

/** @throws {LaunchError} if the port cannot be listened on. */
async function assertPortFree(port: number): Promise<void> {
  try {
    await tryPort(port);
  } catch (error) {
    const reason = errorCode(error) === 'EADDRINUSE' ? 'is in use' : `cannot be used (${errorCode(error)})`;
    throw new LaunchError(
      `Port ${port} of 127.0.0.1 ${reason}; choose another, for example PORT=${port + 1} npm start`,
      {
        cause: error,
      },
    );
  }
}

async function ensureFolder(directory: string): Promise<void> {
  try {
    await ensurePath(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LaunchError(
      `The folder ${directory} cannot be written (${errorCode(error)}); choose another with SLUICE_DIR`,
      { cause: error },
    );
  }
}

/** Replaces mkdir's own recursion, which never ends if a file system reports that a folder in it does not exist. */
async function ensurePath(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o711 });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || (await exists(dirname(directory)))) throw error;
    await ensurePath(dirname(directory));
    await mkdir(directory, { mode: 0o711 });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function urlsOf({ addresses }: StackSettings, port: keyof ServiceAddress): ServiceUrls {
  return {
    managementApi: localUrl(addresses['management-api'][port]),
    tokenVault: localUrl(addresses['token-vault'][port]),
    proxyGateway: localUrl(addresses['proxy-gateway'][port]),
  };
}

/**
 * Writes the file `environment`, with which command line tools reach this stack: `node --env-file`, or `set -a; .
 * .sluice/environment`. It holds secrets; only the owner may read it.
 */
async function writeEnvironmentFile(directory: string, settings: StackSettings): Promise<void> {
  const lines = Object.entries(commandSettings(settings)).map(([name, value]) => `${name}='${value}'\n`);
  await writePrivateFile(join(directory, 'environment'), lines.join(''));
}
