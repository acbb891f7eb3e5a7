import { openDisclosureLog } from '@sluice/audit';
import { createTestDatabase, createTestSecrets, startTestService } from '@sluice/testing';
import { createLocalKeyWrapper, openVault } from '@sluice/vault';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { startDestination } from './test-destination.ts';
import { createTestTenant } from './test-tenant.ts';

/** A gateway on real stores, a Tenant, and a destination that remembers what it was sent. */
export async function startTestGateway(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const { db, url: databaseUrl } = await createTestDatabase(stack);
  const secrets = createTestSecrets();
  const logLines: string[] = [];
  const { url } = await startTestService(
    { configSchema, start },
    { databaseUrl, secrets, stack, settings, onLogLine: (line) => logLines.push(line) },
  );
  const disclosures = openDisclosureLog({ db, stack, onError: (error) => console.error(error) });
  const vault = openVault({ db, keyWrapper: createLocalKeyWrapper(secrets.ROOT_KEY), disclosures });
  const tenant = await createTestTenant({ db, vault, secrets });
  const stranger = await createTestTenant({ db, vault, secrets });
  return { db, url, logLines, tenant, stranger, destination: await startDestination(stack) };
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;
