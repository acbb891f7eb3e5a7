import { randomUUID } from 'node:crypto';
import type { PermissionType } from '@sluice/access';
import { readPepper } from '@sluice/credentials';
import {
  type Answer,
  type CallOptions,
  call,
  insertTestMember,
  oncePerWorker,
  openTestDatabase,
  randomSecrets,
  startTestService,
  testRedisUrl,
} from '@sluice/testing';
import type { TokenUse } from '@sluice/vault';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { createTenant } from '../tenants/create-tenant.ts';

interface TestToken {
  id?: string;
  tenant_id?: string;
  containers?: string[];
  expires_at?: string;
  use?: TokenUse;
  uses?: number;
}

/**
 * Its Tenant holds every permission, and so does the stranger. `through` rewrites the database URL, for a proxy between the
 * service and its database.
 */
export async function startTestManagement(
  stack: AsyncDisposableStack,
  settings: Record<string, string> = {},
  through?: (databaseUrl: string) => Promise<string>,
) {
  return withTenants(await openManagement(stack, settings, through));
}

const sharedManagement = oncePerWorker((stack) => openManagement(stack, { REDIS_URL: testRedisUrl('management') }));

/**
 * Tenants of the file's own at the service with default settings that the files of a worker share. A test that looks at
 * log lines, metrics, or rows of all Tenants needs a service of its own.
 */
export async function shareTestManagement() {
  return withTenants(unobserved(await sharedManagement()));
}

type Management = Awaited<ReturnType<typeof openManagement>>;

/** Without what tells of all files that share the service. */
export function unobserved({ metrics, readiness, logLines, ...service }: Management) {
  return service;
}

export async function openManagement(
  stack: AsyncDisposableStack,
  settings: Record<string, string>,
  through = async (direct: string) => direct,
) {
  const { db, url: directUrl } = await openTestDatabase(stack);
  const databaseUrl = await through(directUrl);
  const secrets = randomSecrets();
  const logLines: string[] = [];
  const { url, metrics, readiness } = await startTestService(
    { configSchema, start },
    { databaseUrl, secrets, stack, settings, onLogLine: (line) => logLines.push(line) },
  );
  return { db, url, databaseUrl, secrets, metrics, readiness, logLines };
}

export async function withTenants<S extends ReturnType<typeof unobserved>>(service: S) {
  const { db, url, secrets } = service;
  const anotherTenant = (name: string) =>
    createTenant({ db, pepper: readPepper(secrets.KEY_PEPPER), keyEnvironment: 'test' }, { name });
  const tenant = await anotherTenant('Tenant');
  const stranger = await anotherTenant('Stranger');

  const send = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    call(url, method, path, { key: tenant.management_key, ...options });

  async function create(path: string, body: object, options: CallOptions = {}): Promise<Answer['body']> {
    const answer = await send('POST', path, { body, ...options });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  const application = (part: object = {}, options?: CallOptions) =>
    create('/applications', { name: 'A', type: 'private', permissions: ['token:read'], ...part }, options);

  const proxy = (part: object = {}, options?: CallOptions) =>
    create('/proxies', { name: 'P', destination_url: 'https://example.com/in', ...part }, options);

  const code = 'module.exports = async (req) => ({ raw: req.args })';
  const formula = (part: object = {}, options?: CallOptions) =>
    create('/reactor-formulas', { name: 'F', code, ...part }, options);
  const reactor = (part: object = {}, options?: CallOptions) =>
    create('/reactors', { name: 'R', ...('formula' in part ? {} : { code }), ...part }, options);

  /** Of a person who has never signed in. */
  const memberId = async (tenantId = tenant.tenant_id): Promise<string> =>
    (await insertTestMember(db, { tenantId, role: 'AUDITOR' })).id;

  const invitation = (part: object = {}, options?: CallOptions) =>
    create('/tenants/self/invitations', { email: `${randomUUID()}@example.com`, ...part }, options);

  /** Its data cannot be read, because this service never reads it. @returns its id. */
  const token = async ({ use, ...part }: TestToken = {}) => {
    const id = part.id ?? randomUUID();
    const row = {
      tenant_id: tenant.tenant_id,
      type: 'token',
      data_ciphertext: Buffer.from('x'),
      containers: ['/pci/'],
    };
    await db
      .insertInto('tokens')
      .values({
        ...row,
        metadata: '{}',
        active_month: '2026-01-01',
        ...part,
        id,
        ...(use && { use: JSON.stringify(use) }),
      })
      .execute();
    return id;
  };

  const keyWith = async (...permissions: PermissionType[]): Promise<string> =>
    (await application({ type: 'management', permissions })).key;

  const addKey = async (applicationId: string, options?: CallOptions): Promise<string> =>
    (await create(`/applications/${applicationId}/keys`, {}, options)).id;

  /** Comes with its key and nonce, and the Applications that it needs. */
  const waitingSession = async (options?: CallOptions) => {
    const maker = await application({ type: 'public', permissions: ['token:create'] }, options);
    const authorizer = await application({}, options);
    const made = await create('/sessions', {}, { key: maker.key });
    return { ...made, maker, authorizer };
  };

  const session = async (part: object = {}, options?: CallOptions) => {
    const made = await waitingSession(options);
    const body = { nonce: made.nonce, permissions: ['token:read'], ...part };
    const { status } = await send('POST', '/sessions/authorize', { key: made.authorizer.key, body });
    if (status !== 200) throw new Error(`authorize answered ${status}`);
    return made;
  };

  /** The ledger has one row, whose id is that of the Tenant. */
  async function giveLedger(tenantId: string): Promise<void> {
    const leaf = { tenant_id: tenantId, leaf_index: 0, log_id: tenantId, leaf_version: 1, leaf_hash: Buffer.alloc(32) };
    const at = '2026-01-01T00:00:00.000Z';
    await db
      .insertInto('ledger_leaves')
      .values({ ...leaf, at, kept_at: at })
      .execute();
    await db.insertInto('ledgers').values({ tenant_id: tenantId, size: 1, checkpoint: 'signed' }).execute();
  }

  return {
    waitingSession,
    session,
    ...service,
    giveLedger,
    tenant,
    stranger,
    anotherTenant,
    send,
    application,
    proxy,
    formula,
    reactor,
    memberId,
    invitation,
    token,
    keyWith,
    addKey,
  };
}

export const isoDate = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
export const uuidText = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
