import { openDisclosureLog } from '@sluice/audit';
import {
  oncePerWorker,
  openTestCoherence,
  openTestDatabase,
  randomSecrets,
  startTestService,
  testRedisUrl,
} from '@sluice/testing';
import { assembleVault, localKeyWrapper } from '@sluice/vault';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { startDestination } from './test-destination.ts';
import { createTestTenant, type TestTenant } from './test-tenant.ts';

export async function startTestGateway(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
  return withTenants(await openGateway(stack, settings), stack);
}

const sharedGateway = oncePerWorker((stack) => openGateway(stack, { REDIS_URL: testRedisUrl('gateway') }));

/**
 * Tenants of the file's own at the gateway with default settings that the files of a worker share. A test that looks at
 * log lines, metrics, or rows of all Tenants needs a gateway of its own.
 */
export async function shareTestGateway(stack: AsyncDisposableStack) {
  const { metrics, logLines, startAnother, ...gateway } = await sharedGateway();
  return withTenants(gateway, stack);
}

async function openGateway(stack: AsyncDisposableStack, settings: Record<string, string>) {
  const database = await openTestDatabase(stack);
  const { db, url: databaseUrl } = database;
  const secrets = randomSecrets();
  const logLines: string[] = [];
  const startAnother = (
    own: Record<string, string> = {},
    stop?: { stack: AsyncDisposableStack; draining: AbortSignal },
  ) =>
    startTestService(
      { configSchema, start },
      {
        databaseUrl,
        secrets,
        stack,
        settings: { ...settings, ...own },
        onLogLine: (line) => logLines.push(line),
        ...stop,
      },
    );
  const { url, metrics } = await startAnother();
  const onError = (error: unknown) => console.error(error);
  const disclosures = openDisclosureLog({ DISCLOSURE_QUEUE_LIMIT: 50_000 }, { db, stack, onError });
  const { caches, changes } = await openTestCoherence(database, stack);
  const vault = assembleVault({ db, keyWrapper: localKeyWrapper(secrets.ROOT_KEY), caches, changes, disclosures });
  /** Tells the gateway of rows that a test wrote directly. */
  const announce = async (tenantId: string, tags: readonly string[]) => {
    await changes.barrier(await changes.record(db, tenantId, tags));
  };
  const createTenant = () => createTestTenant({ db, vault, secrets });
  return { db, databaseUrl, url, metrics, startAnother, announce, logLines, createTenant };
}

async function withTenants<G extends { createTenant: () => Promise<TestTenant> }>(
  gateway: G,
  stack: AsyncDisposableStack,
) {
  const tenant = await gateway.createTenant();
  const stranger = await gateway.createTenant();
  return { ...gateway, tenant, stranger, destination: await startDestination(stack) };
}

/** Also what `startTestGateway` gives, which has more. */
export type TestGateway = Awaited<ReturnType<typeof shareTestGateway>>;
