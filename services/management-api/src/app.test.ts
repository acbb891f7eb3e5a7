import { randomUUID } from 'node:crypto';
import { permissionsFor } from '@sluice/access';
import { generateApiKey } from '@sluice/credentials';
import { type Answer, useStack } from '@sluice/testing';
import { operations } from './app.ts';
import { callerFor } from './testing/caller-for.ts';
import { sampleRequest, sampleTokenId } from './testing/sample-requests.ts';
import { sortedLines } from './testing/sorted-lines.ts';
import { startTestManagement, uuidText } from './testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const all = operations.map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const);
const withPermission = all.filter(([, { permission }]) => permission !== undefined);
const withId = all.filter(([, { path }]) => path.includes(':id'));
const withBody = all.filter(([, { body }]) => body !== undefined);
type Operation = (typeof operations)[number];

const namesOf = ({ permission, orPermission }: Operation) =>
  orPermission ? `${permission} or ${orPermission}` : permission;

beforeAll(async () => {
  const { giveLedger, token, tenant, stranger } = api.current;
  for (const { tenant_id } of [tenant, stranger]) {
    await giveLedger(tenant_id);
    await token({ tenant_id, id: sampleTokenId });
  }
});

async function createdId({ path }: Operation): Promise<string> {
  const { application, proxy, formula, reactor, session, tenant, memberId, invitation } = api.current;
  if (path.startsWith('/tenants/self/members')) return memberId();
  if (path.startsWith('/tenants/self/invitations')) return (await invitation()).id;
  if (path.startsWith('/sessions')) return (await session()).id;
  if (path.startsWith('/logs')) return tenant.tenant_id; // the row of its ledger
  if (path.startsWith('/reactor-formulas')) return (await formula()).id;
  if (path.startsWith('/reactors')) return (await reactor()).id;
  return (await (path.startsWith('/applications') ? application() : proxy())).id;
}

/** Succeeds with exactly these permissions, or with the required key. The Tenant is its own where it may be changed. */
async function acceptedRequest(operation: Operation, permissions: unknown[]) {
  const { addKey, application, anotherTenant } = api.current;
  const isTemplate = operation.path.startsWith('/application-templates');
  const id = isTemplate ? '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b01' : await createdId(operation);
  const isOfItself = operation.path.startsWith('/tenants') && !operation.path.includes(':id');
  const keyId = operation.path.includes(':keyId') ? await addKey(id) : undefined;
  const creator = isOfItself ? { key: (await anotherTenant('own')).management_key } : {};
  const { key, body } =
    operation.takesKeyOf === undefined
      ? { ...(await application({ type: 'management', permissions }, creator)), body: undefined }
      : await callerFor(api.current, operation);
  const { method, path, options } = sampleRequest(operation, id, keyId);
  return { method, path, options: { ...options, key, ...(body && { body }) } };
}

const statusOf = ({ response }: Operation) => Object.keys(response)[0];

function comparable({ status, headers, body }: Answer, id = 'ID') {
  const { instance: _, ...rest } = body;
  return { status, type: headers.get('content-type'), body: JSON.parse(JSON.stringify(rest).replaceAll(id, 'ID')) };
}

test('the operations here are those of the specification, and the place to try transforms', () => {
  const names = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(names.sort()).toEqual(
    [
      'POST /applications',
      'GET /search',
      'GET /applications',
      'GET /applications/key',
      'GET /applications/:id',
      'PUT /applications/:id',
      'POST /applications/:id/regenerate',
      'DELETE /applications/:id',
      'POST /applications/:id/explain',
      'GET /applications/:id/keys',
      'POST /applications/:id/keys',
      'GET /applications/:id/keys/:keyId',
      'DELETE /applications/:id/keys/:keyId',
      'POST /sessions',
      'POST /sessions/authorize',
      'GET /sessions',
      'DELETE /sessions/self',
      'GET /sessions/:id',
      'DELETE /sessions/:id',
      'GET /application-templates',
      'GET /application-templates/:id',
      'GET /logs',
      'GET /logs/entity-types',
      'GET /logs/export',
      'GET /logs/checkpoint',
      'GET /logs/consistency',
      'GET /logs/:id/proof',
      'GET /applications/:id/uses',
      'GET /permissions',
      'GET /tenants/self',
      'PUT /tenants/self',
      'DELETE /tenants/self',
      'GET /tenants/self/reports/usage',
      'GET /tenants/self/metrics',
      'GET /tenants/self/data-keys',
      'GET /invocations',
      'GET /tenants/self/members',
      'PUT /tenants/self/members/:id',
      'DELETE /tenants/self/members/:id',
      'POST /tenants/self/invitations',
      'GET /tenants/self/invitations',
      'GET /tenants/self/invitations/:id',
      'POST /tenants/self/invitations/:id/resend',
      'DELETE /tenants/self/invitations/:id',
      'POST /proxies',
      'POST /proxies/test-transform',
      'GET /proxies',
      'GET /proxies/:id',
      'PUT /proxies/:id',
      'PATCH /proxies/:id',
      'DELETE /proxies/:id',
      'GET /proxies/:id/versions',
      'GET /proxies/:id/versions/:version',
      'POST /proxies/:id/versions/:version/restore',
      'POST /reactor-formulas',
      'GET /reactor-formulas',
      'GET /reactor-formulas/:id',
      'PUT /reactor-formulas/:id',
      'DELETE /reactor-formulas/:id',
      'POST /reactors',
      'POST /reactors/test',
      'GET /reactors',
      'GET /reactors/:id',
      'PUT /reactors/:id',
      'PATCH /reactors/:id',
      'DELETE /reactors/:id',
      'GET /reactors/:id/results',
    ].sort(),
  );
});

describe('401', () => {
  /** One of them was valid until now. */
  const keys = useStack(async () => {
    const { application, send, anotherTenant, db } = api.current;
    const manager = { type: 'management', permissions: permissionsFor('management').map(({ type }) => type) };
    const deleted = await application(manager);
    await send('DELETE', `/applications/${deleted.id}`);
    const expired = await application({ ...manager, expires_at: '2999-01-01' });
    const expires_at = new Date(0).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', expired.id).execute();
    const replaced = await application(manager);
    await send('POST', `/applications/${replaced.id}/regenerate`);
    const closed = await anotherTenant('closed');
    await send('DELETE', '/tenants/self', { key: closed.management_key });
    const valid = (await application(manager)).key;
    return {
      missing: undefined,
      empty: '',
      malformed: 'not a key',
      'with a wrong checksum': `${valid.slice(0, -1)}${valid.endsWith('0') ? '1' : '0'}`,
      unknown: generateApiKey('test', 'management'),
      deleted: deleted.key,
      expired: expired.key,
      replaced: replaced.key,
      'of a deleted Tenant': closed.management_key,
    };
  });

  test.each(all)(
    '%s gives every key that is not accepted the same answer, whatever the rest',
    async (_name, operation) => {
      const { method, path } = sampleRequest(operation, 'not-a-uuid');
      const answers = await Promise.all(
        Object.values(keys.current).map((key) =>
          api.current.send(method, path, {
            ...(key === undefined ? { key: undefined as unknown as string } : { key }),
            ...(method !== 'GET' && { body: '{', headers: { 'Content-Type': 'text/plain' } }),
          }),
        ),
      );
      for (const answer of answers) {
        expect(comparable(answer)).toEqual({
          status: 401,
          type: 'application/problem+json; charset=utf-8',
          body: {
            type: 'urn:sluice:problem:unauthenticated',
            title: 'Unauthorized',
            status: 401,
            detail: 'The SVC-API-KEY header must contain a valid API key',
          },
        });
        expect(answer.body.instance).toBe(answer.headers.get('svc-trace-id'));
      }
    },
  );
});

describe('403', () => {
  test.each(withPermission)(
    '%s names the permission, before it looks at type, body or id',
    async (_name, operation) => {
      const others = permissionsFor('management').filter(({ type }) => type !== operation.permission);
      const { method, path } = sampleRequest(operation, 'not-a-uuid');
      const key = await api.current.keyWith(...(others.map(({ type }) => type) as never[]));
      const answer = await api.current.send(method, path, {
        key,
        ...(method !== 'GET' && { body: '{', headers: { 'Content-Type': 'text/plain' } }),
      });
      expect(answer).toMatchObject({
        status: 403,
        body: { title: 'Forbidden', status: 403, detail: `This operation needs the permission ${namesOf(operation)}` },
      });
    },
  );

  /** To give or take a role one must hold its permissions; sending an invitation again is creating one, too. */
  const givesRole = ['updateMember', 'deleteMember', 'createInvitation', 'resendInvitation', 'deleteInvitation'];
  const single = withPermission.filter(([, { id }]) => !givesRole.includes(id));

  test.each(single)('%s needs no other permission than its own', async (_name, operation) => {
    const { method, path, options } = await acceptedRequest(operation, [operation.permission]);
    const { status } = await api.current.send(method, path, options);
    expect(String(status)).toBe(statusOf(operation));
  });

  test('a permission that only a rule grants is held as well', async () => {
    const rules = [{ priority: 1, transform: 'redact', permissions: ['proxy:read'] }];
    const { key } = await api.current.application({ type: 'management', permissions: [], rules });
    expect((await api.current.send('GET', '/proxies', { key })).status).toBe(200);
    expect((await api.current.send('GET', '/tenants/self', { key })).status).toBe(403);
  });
});

describe('415', () => {
  const refused = ['', 'text/plain', 'text/json', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x+json'];

  test.each(withBody)('%s refuses other types, before it reads the body', async (_name, operation) => {
    const { method, path } = sampleRequest(operation, 'not-a-uuid');
    const { key } = await callerFor(api.current, operation);
    for (const type of refused) {
      const { status } = await api.current.send(method, path, { key, body: '{', headers: { 'Content-Type': type } });
      expect({ type, status }).toEqual({ type, status: 415 });
    }
  });

  test.each(withBody)('%s refuses a body in a content coding', async (_name, operation) => {
    const { method, path, options } = sampleRequest(operation);
    const headers = { ...options.headers, 'Content-Encoding': 'gzip' };
    const { key } = await callerFor(api.current, operation);
    expect((await api.current.send(method, path, { ...options, headers, key })).status).toBe(415);
  });

  test.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.x+json;v=1',
    'application/json ;a=b',
  ])('a JSON operation takes %s', async (type) => {
    const { method, path, options } = sampleRequest(operations[0] as Operation);
    expect((await api.current.send(method, path, { ...options, headers: { 'Content-Type': type } })).status).toBe(201);
  });
});

describe('400', () => {
  test.each(withId)('%s refuses an id that is not a plain UUID, before 404', async (_name, operation) => {
    const uuid = randomUUID();
    for (const id of ['x', `urn:uuid:${uuid}`, `{${uuid}}`, uuid.replaceAll('-', ''), `${uuid}%00`, '%F0%9F%98%80']) {
      const { method, path, options } = sampleRequest(operation, id);
      const { status, body } = await api.current.send(method, path, options);
      expect({ id, status, errors: body.errors }).toEqual({ id, status: 400, errors: { id: ['must be a UUID'] } });
    }
  });

  test.each(withBody)('%s refuses an empty body and one that is no object, before 404', async (_name, operation) => {
    const { method, path, options } = sampleRequest(operation);
    const empty = operation.bodyOptional ? [] : [''];
    const { key } = await callerFor(api.current, operation);
    for (const body of [...empty, 'null', '[]', '5', '"text"', 'true', '{"name":']) {
      const { status } = await api.current.send(method, path, { ...options, body, key });
      expect({ body, status }).toEqual({ body, status: 400 });
    }
  });
});

describe('404', () => {
  test.each(withId)(
    "%s answers an unknown id and another Tenant's alike, and touches nothing",
    async (_name, operation) => {
      const { db, send, stranger } = api.current;
      const foreign = await createdId(operation);
      const tables = [
        ...(['applications', 'proxies', 'reactors', 'reactor_formulas'] as const),
        ...(['sessions', 'members', 'invitations'] as const),
      ];
      const rowsOf = (table: (typeof tables)[number]) =>
        db.selectFrom(table).selectAll().where('id', '=', foreign).execute();
      const keys = async () =>
        sortedLines(
          await db.selectFrom('application_keys').selectAll().where('application_id', '=', foreign).execute(),
        );
      const rows = async () => [...(await Promise.all(tables.map(rowsOf))), await keys()];
      const before = await rows();
      const answers = await Promise.all(
        [randomUUID(), foreign].map(async (id) => {
          const { method, path, options } = sampleRequest(operation, id);
          return comparable(await send(method, path, { ...options, key: stranger.management_key }), id);
        }),
      );
      expect(answers[0]).toMatchObject({
        status: 404,
        body: { title: 'Not found', detail: expect.stringContaining('ID') },
      });
      expect(answers[1]).toEqual(answers[0]);
      expect(await rows()).toEqual(before);
    },
  );

  test('paths that there are not, with two slashes or in capitals', async () => {
    for (const path of [
      '/nothing',
      '/nothing/',
      '/applications//',
      '//applications',
      '/Applications',
      '/proxies/a/b',
    ]) {
      expect(await api.current.send('GET', path)).toMatchObject({ status: 404, body: { title: 'Not found' } });
    }
  });

  test('an unknown path has the member that published clients reject on; an unknown id has not', async () => {
    const { send } = api.current;
    const path = await send('POST', '/v1/charges');
    expect(path.body.error).toEqual({
      type: 'sluice_not_found',
      code: 'not_found',
      message: 'Not found: The path /v1/charges does not exist',
    });
    expect([path.headers.get('x-should-retry'), path.headers.get('stripe-should-retry')]).toEqual(['false', 'false']);
    expect((await send('GET', `/applications/${randomUUID()}`)).body).not.toHaveProperty('error');
  });
});

describe('a slash at the end', () => {
  test.each(all)('%s succeeds with it', async (_name, operation) => {
    const every = permissionsFor('management').map(({ type }) => type);
    const { method, path, options } = await acceptedRequest(operation, every);
    const { status } = await api.current.send(method, path.replace(/(?=\?|$)/, '/'), options);
    expect(String(status)).toBe(statusOf(operation));
  });

  test('the same request under one idempotency key, once with it and once without, acts once', async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const body = { name: 'Slash', type: 'private', permissions: ['token:read'] };
    const [first, second] = [
      await api.current.send('POST', '/applications/', { headers, body }),
      await api.current.send('POST', '/applications', { headers, body }),
    ];
    expect(first.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(first.headers.get('location')).toBe(`/applications/${first.body.id}`);
  });
});

describe('HEAD', () => {
  const readable = all.filter(([, { method }]) => method === 'get');

  test.each(readable)('of %s answers the head of GET and no body', async (_name, operation) => {
    const id = await createdId(operation);
    const { path } = sampleRequest(operation, id);
    const [get, head] = [await api.current.send('GET', path), await api.current.send('HEAD', path)];
    const headOf = ({ status, headers }: Answer) => [
      status,
      headers.get('content-type'),
      headers.get('content-length'),
    ];
    expect(headOf(head)).toEqual(headOf(get));
    expect(head.body).toBe('');
  });

  test('405 names it where there is a GET', async () => {
    const { status, headers } = await api.current.send('DELETE', '/applications');
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST, GET, HEAD' });
  });
});

describe('two Tenants', () => {
  const tablesOfTenants = [
    ...(['applications', 'application_keys', 'sessions', 'proxies', 'audit_log', 'counters'] as const),
    ...(['members', 'invitations', 'sign_ins', 'reactors', 'reactor_formulas'] as const),
  ];
  const rowsOf = async (tenantId: string) => {
    const { db } = api.current;
    const tables = await Promise.all([
      db.selectFrom('tenants').selectAll().where('id', '=', tenantId).execute(),
      ...tablesOfTenants.map((table) => db.selectFrom(table).selectAll().where('tenant_id', '=', tenantId).execute()),
    ]);
    return tables.flatMap(sortedLines);
  };

  test.each(all.filter(([, { path }]) => !path.includes(':id')))(
    '%s tells and changes nothing of the other Tenant',
    async (_name, operation) => {
      const { anotherTenant, send, session, addKey, giveLedger, memberId, invitation, reactor, formula } = api.current;
      const mine = await anotherTenant('mine');
      const theirs = await anotherTenant('theirs');
      const theirKey = { key: theirs.management_key };
      const theirSession = await session({}, theirKey);
      const theirKeyId = await addKey(theirSession.authorizer.id, theirKey);
      const theirMember = await memberId(theirs.tenant_id);
      const theirInvitation = (await invitation({}, theirKey)).id;
      const theirFormula = (await formula({}, theirKey)).id;
      const theirReactor = (await reactor({ formula: { id: theirFormula } }, theirKey)).id;
      const { method, path, options } = sampleRequest(operation);
      const { key, body = options.body } = await callerFor(api.current, operation, mine.management_key);
      await giveLedger(mine.tenant_id);
      const before = await rowsOf(theirs.tenant_id);
      const filter =
        operation.query && path !== '/permissions'
          ? `${path.includes('?') ? '&' : '?'}id=${theirs.application_id}`
          : '';
      const answer = await send(method, path + filter, { ...options, key, ...(body !== undefined && { body }) });
      expect(answer.status).toBeLessThan(300);
      const text = JSON.stringify(answer.body);
      for (const id of [
        ...[theirs.tenant_id, theirs.application_id, theirSession.id, theirKeyId],
        ...[theirs.owner_id, theirMember, theirInvitation, theirFormula, theirReactor],
      ]) {
        expect(text).not.toContain(id);
      }
      expect(await rowsOf(theirs.tenant_id)).toEqual(before);
    },
  );
});

test.each(['/applications', '/applications/key', '/permissions', '/tenants/self', '/proxies'])(
  'another method on %s is 405 with Allow',
  async (path) => {
    const answer = await api.current.send('OPTIONS', path);
    expect(answer).toMatchObject({ status: 405, body: { status: 405 } });
    expect(answer.headers.get('allow')).toContain('GET');
  },
);

describe('trace id', () => {
  test.each(['abc-123', 'A'.repeat(64)])('%s is taken and echoed', async (id) => {
    const { headers, body } = await api.current.send('GET', '/nothing', { headers: { 'SVC-TRACE-ID': id } });
    expect([headers.get('svc-trace-id'), body.instance]).toEqual([id, id]);
  });

  test.each(['', 'a b', 'A'.repeat(65), 'ä', 'a,b'])('%j is replaced by one of ours', async (id) => {
    const { headers } = await api.current.send('GET', '/permissions', { headers: { 'SVC-TRACE-ID': id } });
    expect(headers.get('svc-trace-id')).toEqual(uuidText);
  });
});

test('HEADER_PREFIX names the headers', async () => {
  await using stack = new AsyncDisposableStack();
  const { send, tenant } = await startTestManagement(stack, { HEADER_PREFIX: 'ACME' });
  expect((await send('GET', '/permissions')).body.detail).toBe('The ACME-API-KEY header must contain a valid API key');
  const answer = await send('GET', '/permissions', { headers: { 'ACME-API-KEY': tenant.management_key } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('acme-trace-id')).toEqual(uuidText);
});
