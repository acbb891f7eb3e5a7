import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startStores } from '@sluice/local';
import {
  findAddresses,
  migrateDatabase,
  readCredentials,
  readLedgerKey,
  readSecrets,
  type ServiceName,
  type StackSettings,
  startWatchdog,
} from '@sluice/local/parts';
import { programEnvironment, queryOnce } from '@sluice/testing';
import { type Node, startNode } from './node.ts';

/** How many there are of each service; they are named `gateway-1` and so on. */
export type Processes = Partial<Record<ServiceName, number>>;

export interface SiteOptions {
  directory: string;
  log: (line: string) => void;
  /** For the jitter of the chaos proxies. */
  seed: number;
  environment?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/** Stores with a Tenant, what services that use them have to be told, and the processes that were asked for. */
export type Site = Awaited<ReturnType<typeof startSite>>;

/** A crash of the machine would lose data; that of a process loses nothing. */
const postgresSettings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** Starts Postgres and Redis, and then the processes; they end with the stack, and with this process. */
export async function startSite(
  stack: AsyncDisposableStack,
  { directory, log, seed, signal, environment = {}, processes }: SiteOptions & { processes: Processes },
) {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const watchdog = stack.adopt(await startWatchdog(), (started) => started.close());
  const bounds = { signal, watchdog };
  const started = await startStores({ directory, log, postgresSettings, ...bounds });
  const stores = stack.adopt(started, () => started.close());
  const { databaseUrl, redisUrl } = stores;
  await migrateDatabase(databaseUrl, bounds);
  const settings: StackSettings = {
    databaseUrl,
    redisUrl,
    secrets: await readSecrets(directory),
    ledgerKey: await readLedgerKey(directory),
    addresses: await findAddresses(0),
    spoolDirectory: join(directory, 'spool'),
    environment: { LOG_LEVEL: 'warn', ...programEnvironment(), ...environment },
  };
  const credentials = await readCredentials({ directory, baseUrl: '', settings }, bounds);
  const site = { directory, stores, settings, credentials, watchdog, signal };
  const named = Object.entries(processes).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${service.replace(/^(proxy|token)-|-api$/, '')}-${index + 1}`,
      service: service as ServiceName,
    })),
  );
  const nodes = await Promise.all(
    named.map((one, index) => startNode(site, { ...one, seed: seed + 10 * index }, stack)),
  );
  const of = (...some: ServiceName[]): readonly Node[] => nodes.filter(({ service }) => some.includes(service));
  const there = (node: Node | undefined, name: string) => {
    if (!node) throw new Error(`There is no process ${name}`);
    return node;
  };
  return {
    ...site,
    nodes,
    of,
    /** @throws {Error} where there is none of that name. */
    node: (name: string) => there(nodes.filter((node) => node.name === name)[0], name),
    /** One process of the service after the other. */
    inTurn: (service: ServiceName, turn: number) => there(of(service)[turn % of(service).length], service),
    query: <T extends object>(text: string, values?: readonly unknown[]) => queryOnce<T>(databaseUrl, text, values),
  };
}
