import { randomUUID } from 'node:crypto';
import { type Answer, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { operations } from '../app.ts';
import { sampleRequest } from '../testing/sample-requests.ts';
import { sequenceLog } from '../testing/sequence-log.ts';
import { startTestManagement } from '../testing/test-management.ts';

/** Each request is sent with a foreign id and with one that does not exist. */
const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const { application, proxy, formula, reactor, session, addKey, memberId, invitation, token, tenant, stranger } =
    management;
  const theirKey = { key: stranger.management_key };
  const theirApplication = (await application({}, theirKey)).id;
  const theirKeyId = await addKey(theirApplication, theirKey);
  const theirSession = await session({}, theirKey);
  const theirFormula = (await formula({}, theirKey)).id;
  const foreign: Record<Foreign, string> = {
    formula: theirFormula,
    reactor: (await reactor({ formula: { id: theirFormula } }, theirKey)).id,
    application: theirApplication,
    management: stranger.application_id,
    proxy: (await proxy({ application: { id: theirApplication } }, theirKey)).id,
    tenant: stranger.tenant_id,
    key: theirKeyId,
    session: theirSession.id,
    member: await memberId(stranger.tenant_id),
    owner: stranger.owner_id,
    invitation: (await invitation({}, theirKey)).id,
    token: await token({ tenant_id: stranger.tenant_id }),
  };
  const own = {
    application: (await application({}, { key: tenant.management_key })).id,
    proxy: (await proxy({}, { key: tenant.management_key })).id,
    formula: (await formula({}, { key: tenant.management_key })).id,
    reactor: (await reactor({}, { key: tenant.management_key })).id,
  };
  for (const { tenant_id } of [tenant, stranger]) await sequenceLog(management.db, tenant_id);
  return { ...management, foreign, own };
});

const foreignIds = [
  ...(['application', 'management', 'proxy', 'tenant', 'key', 'session'] as const),
  ...(['member', 'owner', 'invitation', 'token', 'formula', 'reactor'] as const),
] as const;
type Foreign = (typeof foreignIds)[number];

interface Operation {
  method: string;
  /** FOREIGN stands for the foreign id, OWN for one of the Tenant's own. */
  path: string;
  body?: object;
  contentType?: string;
}

const foreign = fc.constantFrom(...foreignIds);
const part = fc.record(
  {
    name: fc.constantFrom('Mine', '', 5),
    application: fc.constantFrom({ id: 'FOREIGN' }, { id: 'FOREIGN' }, null),
    formula: fc.constantFrom({ id: 'FOREIGN' }, null),
    formula_id: fc.constant('FOREIGN'),
    code: fc.constantFrom('f()', null),
    configuration: fc.constantFrom({ a: '1' }, { a: null }, 5),
    permissions: fc.constantFrom(['token:read'], ['proxy:read'], []),
    rules: fc.constantFrom([], [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:use'] }], 'x'),
    type: fc.constantFrom('private', 'management'),
    id: fc.constant('FOREIGN'),
    tenant_id: fc.constant('FOREIGN'),
    application_id: fc.constant('FOREIGN'),
    created_by: fc.constant('FOREIGN'),
  },
  { requiredKeys: [] },
);
const whole = part.map((body) => ({ name: 'Mine', destination_url: 'https://example.com/', ...body }));

const mergePatch = 'application/merge-patch+json';

const byPath: Operation[] = operations
  .filter(({ path }) => path.includes(':id'))
  .flatMap((one) => {
    const paths = ['FOREIGN', ...(one.path.includes(':keyId') ? ['OWN'] : [])];
    return paths.map((id) => {
      const { method, path, options } = sampleRequest(one, id, 'FOREIGN');
      const { consumes = 'application/json', body } = one;
      return { method, path, ...(body && { body: options.body as object, contentType: consumes }) };
    });
  });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: fc.constantFrom(...byPath), weight: 3 },
  fc.record({
    method: fc.constant('GET'),
    path: fc.constantFrom(
      '/proxies?id=FOREIGN',
      '/proxies?id=FOREIGN&id=OWN&size=1',
      '/proxies?name=FOREIGN',
      '/reactors?id=FOREIGN&id=OWN&size=1',
      '/reactors?name=FOREIGN',
      '/reactor-formulas?name=FOREIGN',
      '/applications?id=FOREIGN',
      '/applications?id[]=OWN,FOREIGN',
      '/permissions?application_type=FOREIGN',
      '/sessions?id=FOREIGN',
      '/tenants/self/members?user_id=FOREIGN',
      '/tenants/self/invitations?id=FOREIGN',
      '/invocations?proxy_id=FOREIGN',
      '/invocations?application_id=FOREIGN&size=1',
      '/logs?entity_id=FOREIGN',
      '/logs?actor_id=FOREIGN&size=1',
      '/logs/FOREIGN/proof',
      '/logs/export?entity_id=FOREIGN',
      '/logs/export?actor_id=FOREIGN&start=1',
      '/logs/export?token_id=FOREIGN',
      '/.well-known/sluice-ledger-key/FOREIGN',
    ),
  }),
  fc.record({
    method: fc.constant('PUT'),
    path: fc.constantFrom(
      ...['/proxies/FOREIGN', '/proxies/OWN', '/applications/FOREIGN', '/applications/OWN'],
      ...['/reactors/FOREIGN', '/reactors/OWN', '/reactor-formulas/FOREIGN', '/reactor-formulas/OWN'],
    ),
    body: whole,
  }),
  fc.record({
    method: fc.constant('PATCH'),
    path: fc.constantFrom('/proxies/FOREIGN', '/proxies/OWN', '/reactors/FOREIGN', '/reactors/OWN'),
    body: part,
    contentType: fc.constantFrom(mergePatch, mergePatch, mergePatch, 'application/json'),
  }),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom('/proxies', '/applications', '/reactors', '/reactor-formulas'),
    body: whole,
  }),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/applications/OWN/explain'),
    body: fc.constant({ token_id: 'FOREIGN', operation: 'token:read' }),
  }),
);

function ownOf(path: string): string {
  const { own } = api.current;
  if (path.startsWith('/reactor-formulas')) return own.formula;
  if (path.startsWith('/reactors')) return own.reactor;
  return path.startsWith('/proxies') ? own.proxy : own.application;
}

/** Leaves out what differs for each request and resource. */
async function answerAbout(id: string, { method, path, body, contentType }: Operation) {
  const { send } = api.current;
  const ownId = ownOf(path);
  const text = body && JSON.stringify(body).replaceAll('FOREIGN', id);
  const answer = await send(method, path.replaceAll('FOREIGN', id).replaceAll('OWN', ownId), {
    ...(text !== undefined && { body: text }),
    headers: contentType === undefined ? {} : { 'Content-Type': contentType },
  });
  return comparable(answer, id);
}

function comparable({ status, headers, body }: Answer, id: string) {
  const text = JSON.stringify(body, (name, value) =>
    ['instance', 'created_at', 'modified_at'].includes(name) || (status === 201 && ['id', 'key'].includes(name))
      ? undefined
      : value,
  );
  const names = [...headers.keys()].filter((name) => name !== 'content-length');
  return { status, names, type: headers.get('content-type'), body: text.replaceAll(id, 'FOREIGN') };
}

async function theirRows() {
  const { db, stranger } = api.current;
  const id = stranger.tenant_id;
  return {
    tenant: await db.selectFrom('tenants').selectAll().where('id', '=', id).execute(),
    keys: await db.selectFrom('application_keys').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    applications: await db.selectFrom('applications').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    sessions: await db.selectFrom('sessions').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    proxies: await db.selectFrom('proxies').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    reactors: await db.selectFrom('reactors').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    formulas: await db.selectFrom('reactor_formulas').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
    counters: await db
      .selectFrom('counters')
      .selectAll()
      .where('tenant_id', '=', id)
      .orderBy('counter')
      .orderBy('slot')
      .execute(),
    audited: await db.selectFrom('audit_log').selectAll().where('tenant_id', '=', id).orderBy('id').execute(),
  };
}

const property = (ask = answerAbout) =>
  fc.asyncProperty(operation, foreign, async (one, which) => {
    const unknown = await ask(randomUUID(), one);
    expect(await ask(api.current.foreign[which], one)).toEqual(unknown);
  });

test("whatever is asked or done with another Tenant's ids, the answer is that for ids that there are not", async () => {
  const before = await theirRows();
  await fc.assert(property(), { numRuns: 300 });
  expect(await theirRows()).toEqual(before);
});

test('an id of the Tenant itself is told apart at once: the property can fail', async () => {
  const { own } = api.current;
  const { counterexample } = await fc.check(
    fc.asyncProperty(operation, async (one) => {
      const unknown = await answerAbout(randomUUID(), one);
      expect(await answerAbout(own.proxy, one)).toEqual(unknown);
    }),
    { seed: 1 },
  );
  expect(counterexample?.[0]).toMatchObject({ path: expect.stringMatching(/^\/proxies/) });
});

test("an idempotency key that another Tenant's Application has used is a new one", async () => {
  const { send, stranger, tenant } = api.current;
  const body = { name: 'Once', destination_url: 'https://example.com/once' };
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'both-use-this-one' };
  const theirs = await send('POST', '/proxies', { body, headers, key: stranger.management_key });
  const mine = await send('POST', '/proxies', { body, headers });
  expect([theirs.status, mine.status]).toEqual([201, 201]);
  expect(mine.body.tenant_id).toBe(tenant.tenant_id);
  expect(mine.body.id).not.toBe(theirs.body.id);
});
