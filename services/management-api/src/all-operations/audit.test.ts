import { slow, useStack } from '@sluice/testing';
import { operations } from '../app.ts';
import { callerFor } from '../testing/caller-for.ts';
import { changesNothing, sampleRequest, sampleTokenId } from '../testing/sample-requests.ts';
import { sortedLines } from '../testing/sorted-lines.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const expected: Record<string, { operation: string; entity_type: string }> = {
  createApplication: { operation: 'create', entity_type: 'application' },
  updateApplication: { operation: 'update', entity_type: 'application' },
  regenerateApplicationKey: { operation: 'regenerate', entity_type: 'application' },
  createApplicationKey: { operation: 'update', entity_type: 'application' },
  deleteApplicationKey: { operation: 'update', entity_type: 'application' },
  deleteApplication: { operation: 'delete', entity_type: 'application' },
  authorizeSession: { operation: 'authorize', entity_type: 'session' },
  endOwnSession: { operation: 'delete', entity_type: 'session' },
  deleteSession: { operation: 'delete', entity_type: 'session' },
  updateTenant: { operation: 'update', entity_type: 'tenant' },
  deleteTenant: { operation: 'delete', entity_type: 'tenant' },
  updateMember: { operation: 'update', entity_type: 'member' },
  deleteMember: { operation: 'delete', entity_type: 'member' },
  createInvitation: { operation: 'create', entity_type: 'invitation' },
  resendInvitation: { operation: 'update', entity_type: 'invitation' },
  deleteInvitation: { operation: 'delete', entity_type: 'invitation' },
  createProxy: { operation: 'create', entity_type: 'proxy' },
  updateProxy: { operation: 'update', entity_type: 'proxy' },
  patchProxy: { operation: 'update', entity_type: 'proxy' },
  restoreProxyVersion: { operation: 'update', entity_type: 'proxy' },
  deleteProxy: { operation: 'delete', entity_type: 'proxy' },
  createReactorFormula: { operation: 'create', entity_type: 'reactor_formula' },
  updateReactorFormula: { operation: 'update', entity_type: 'reactor_formula' },
  deleteReactorFormula: { operation: 'delete', entity_type: 'reactor_formula' },
  createReactor: { operation: 'create', entity_type: 'reactor' },
  updateReactor: { operation: 'update', entity_type: 'reactor' },
  patchReactor: { operation: 'update', entity_type: 'reactor' },
  deleteReactor: { operation: 'delete', entity_type: 'reactor' },
};

const all = operations.map((operation) => [operation.id, operation] as const);
type Operation = (typeof operations)[number];
/** They change nothing, or create something that has no rights until it is authorized. */
const unaudited = [...changesNothing, 'createSession'];
const changing = all.filter(([id, { method }]) => method !== 'get' && !unaudited.includes(id));
const reading = all.filter(([id, { method }]) => method === 'get' || unaudited.includes(id));

/** Only audit rows after it are looked at. */
async function createScene(operation: Operation) {
  const { anotherTenant, application, proxy, session, addKey, memberId, invitation, formula, reactor, db } =
    api.current;
  const { management_key, tenant_id, application_id } = await anotherTenant('T');
  const { key, body, audited } = await callerFor(api.current, operation, management_key);
  const ids = {
    applications: (await application({}, { key: management_key })).id as string,
    proxies: (await proxy({ configuration: { SECRET: 'value-to-hide' } }, { key: management_key })).id as string,
  };
  const formulaId = (await formula({}, { key: management_key })).id as string;
  const reactorId = (await reactor({ configuration: { SECRET: 'value-to-hide' } }, { key: management_key }))
    .id as string;
  const sessionId = (await session({}, { key: management_key })).id;
  const keyId = await addKey(ids.applications, { key: management_key });
  const member = await memberId(tenant_id);
  const invited = (await invitation({}, { key: management_key })).id;
  const rows = () => db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenant_id).execute();
  const known = new Set((await rows()).map(({ id }) => id));
  const newRows = async () => (await rows()).filter(({ id }) => !known.has(id));
  await api.current.giveLedger(tenant_id);
  await api.current.token({ tenant_id, id: sampleTokenId });
  const idFor = (path: string) => {
    if (path.startsWith('/sessions')) return sessionId as string;
    if (path.startsWith('/tenants/self/members')) return member;
    if (path.startsWith('/tenants/self/invitations')) return invited as string;
    if (path.startsWith('/application-templates')) return '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b01';
    if (path.startsWith('/logs')) return tenant_id; // the row of its ledger
    if (path.startsWith('/reactor-formulas')) return formulaId;
    if (path.startsWith('/reactors')) return reactorId;
    return path.startsWith('/proxies') ? ids.proxies : ids.applications;
  };
  const { method, path, options } = sampleRequest(operation, idFor(operation.path), keyId);
  const asked = { method, path, options: { ...options, key, ...(body && { body }) } };
  return { asked, audited, tenant_id, application_id, idFor, newRows };
}

test('every operation that changes something is listed here', () => {
  expect(changing.map(([id]) => id).sort()).toEqual(Object.keys(expected).sort());
});

function detailOf({ id, path }: Operation): unknown {
  if (path.includes('/keys')) return { key_id: expect.any(String), key_version: expect.any(Number) };
  const former = { user_id: expect.any(String), former_role: 'AUDITOR' };
  if (id === 'updateMember') return { ...former, role: 'AUDITOR' };
  if (id === 'deleteMember') return former;
  if (id === 'restoreProxyVersion') return { restored_version: 1 };
  return id === 'createInvitation' ? { role: 'AUDITOR' } : null;
}

test.each(changing)(
  '%s writes one row: who, what, on which thing, under which trace; no value',
  async (id, operation) => {
    const { asked, audited, tenant_id, application_id, idFor, newRows } = await createScene(operation);
    const headers = { ...asked.options.headers, 'SVC-TRACE-ID': `trace-${id}` };
    const { status, body } = await api.current.send(asked.method, asked.path, { ...asked.options, headers });
    expect(status).toBeLessThan(300);
    const { entity_type } = expected[id] ?? {};
    const rows = await newRows();
    expect(rows).toEqual([
      {
        tenant_id,
        id: expect.any(String),
        at: expect.any(String),
        actor_id: application_id,
        actor_type: 'application',
        ...expected[id],
        entity_id:
          entity_type === 'tenant' ? tenant_id : operation.path.includes(':id') ? idFor(operation.path) : body.id,
        message: expect.stringMatching(
          /^(Application|Proxy|Reactor|Reactor formula|Session|Tenant|Key|Member|Invitation) (created|authorized|updated|deleted|given a new (key|link)|(added to|removed from) the Application)$/,
        ),
        trace_id: `trace-${id}`,
        leaf_version: 1,
        detail: detailOf(operation),
        ...audited,
      },
    ]);
  },
);

test.each(reading)('%s writes none', async (_id, operation) => {
  const { asked, newRows } = await createScene(operation);
  const { status } = await api.current.send(asked.method, asked.path, asked.options);
  expect(String(status)).toBe(Object.keys(operation.response)[0]);
  expect(await newRows()).toEqual([]);
});

test.each(changing)('%s that is refused writes none', async (_id, operation) => {
  const { asked, newRows } = await createScene(operation);
  const { method, path, options } = sampleRequest(operation);
  const { key } = asked.options;
  const refused = operation.body ? { ...options, body: { name: 5, expires_at: 5 } } : options;
  if (operation.body || operation.path.includes(':id')) {
    expect((await api.current.send(method, path, { ...refused, key })).status).toBeGreaterThanOrEqual(400);
  } else {
    expect((await api.current.send(method, path, { ...refused, key: `${key}x` })).status).toBe(401);
  }
  expect(await newRows()).toEqual([]);
});

/** Its row is written after its commit, by the purge if need be (closing.test.ts). */
const together = changing.filter(([id]) => id !== 'deleteTenant');

slow('0.9 s')('a change whose audit row cannot be written does not happen', async () => {
  await using stack = new AsyncDisposableStack();
  const management = await startTestManagement(stack);
  const { db, send, proxy, application, formula, reactor, session, addKey, memberId, invitation } = management;
  const created = { applications: await application(), proxies: await proxy() };
  const code = { formula: await formula(), reactor: await reactor() };
  const keyId = await addKey(created.applications.id);
  const sessionId = (await session()).id;
  const ofTenant = { members: await memberId(), invitations: (await invitation()).id };
  const tables = [
    ...(['tenants', 'applications', 'application_keys', 'sessions', 'proxies', 'proxy_versions', 'data_keys'] as const),
    ...(['members', 'invitations', 'reactors', 'reactor_formulas'] as const),
  ];
  /** Leaves out the counted uses. */
  const state = async () => {
    const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
    return sortedLines(rows.flat().map((row) => ({ ...row, use_count: undefined })));
  };
  const callers = new Map<string, Awaited<ReturnType<typeof callerFor>>>();
  for (const [id, operation] of together) callers.set(id, await callerFor(management, operation));
  const { sql } = await import('kysely');
  await sql`alter table audit_log add constraint refuse check (operation = '') not valid`.execute(db);
  const before = await state();
  for (const [operationId, operation] of together) {
    const other = operation.path.startsWith('/proxies') ? created.proxies.id : created.applications.id;
    const ofMembers = operation.path.startsWith('/tenants/self/members') ? ofTenant.members : ofTenant.invitations;
    const known = operation.path.startsWith('/sessions') ? sessionId : other;
    const ofCode = operation.path.startsWith('/reactors') ? code.reactor.id : code.formula.id;
    const isOfCode = operation.path.startsWith('/reactor');
    const id = operation.path.startsWith('/tenants/self/') ? ofMembers : isOfCode ? ofCode : known;
    const { method, path, options } = sampleRequest(operation, id, keyId);
    const { status, body } = await send(method, path, { ...options, ...callers.get(operationId) });
    expect({ status, detail: body.detail }).toEqual({ status: 500, detail: 'The request could not be processed' });
  }
  expect(await state()).toEqual(before);
});
