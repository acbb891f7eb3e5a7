import { openDisclosureLog } from '@sluice/audit';
import { openTestCoherence, openTestDatabase, randomSecrets, startTestService } from '@sluice/testing';
import { assembleVault, localKeyWrapper } from '@sluice/vault';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { startDestination } from './test-destination.ts';
import { createTestTenant } from './test-tenant.ts';

export async function startTestGateway(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
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
  const tenant = await createTenant();
  const stranger = await createTenant();
  return {
    db,
    databaseUrl,
    url,
    metrics,
    startAnother,
    announce,
    logLines,
    createTenant,
    tenant,
    stranger,
    destination: await startDestination(stack),
  };
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;
