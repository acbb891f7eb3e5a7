import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Credentials, type Stores, startStores } from '@sluice/local';
import {
  findAddresses,
  migrateDatabase,
  readCredentials,
  readLedgerKey,
  readSecrets,
  type StackSettings,
  startWatchdog,
  type Watchdog,
} from '@sluice/local/parts';

export interface SiteOptions {
  /** Of the site's own; made if it is not there. */
  directory: string;
  /** Told what takes a while. */
  log: (line: string) => void;
  /** Gives up starting. */
  signal?: AbortSignal | undefined;
}

/** Stores with a Tenant, and what services that use them have to be told. None runs yet. */
export interface Site {
  directory: string;
  stores: Stores;
  settings: StackSettings;
  credentials: Credentials;
  watchdog: Watchdog;
  signal: AbortSignal | undefined;
}

/** A crash of the machine would lose data; that of a process loses nothing. */
const postgresSettings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** Starts Postgres and Redis; they end with the stack, and with this process. */
export async function startSite(options: SiteOptions, stack: AsyncDisposableStack): Promise<Site> {
  const { directory, log, signal } = options;
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const watchdog = stack.adopt(await startWatchdog(), (started) => started.close());
  const bounds = { signal, watchdog };
  const storesOptions = { directory, log, postgresSettings, ...bounds };
  const stores = stack.adopt(await startStores(storesOptions), (started) => started.close());
  const { databaseUrl, redisUrl } = stores;
  await migrateDatabase(databaseUrl, bounds);
  const settings: StackSettings = {
    databaseUrl,
    redisUrl,
    secrets: await readSecrets(directory),
    ledgerKey: await readLedgerKey(directory),
    addresses: await findAddresses(0),
    spoolDirectory: join(directory, 'spool'),
    environment: { LOG_LEVEL: 'warn' },
  };
  const credentials = await readCredentials({ directory, baseUrl: '', settings }, bounds);
  return { directory, stores, settings, credentials, watchdog, signal };
}
