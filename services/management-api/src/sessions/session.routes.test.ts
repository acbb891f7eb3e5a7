import { randomUUID } from 'node:crypto';
import { type CallOptions, slow, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { isoDate, startTestManagement, uuidText } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack, { TRUSTED_PROXIES: '127.0.0.0/8, ::1/128' }));

const send = (method: string, path: string, options: CallOptions = {}) => api.current.send(method, path, options);
const make = (key: string, address = '192.0.2.7') =>
  send('POST', '/sessions', { key, headers: { 'X-Forwarded-For': address } });
const authorize = (key: string, body: object, headers = {}) =>
  send('POST', '/sessions/authorize', { key, body: { permissions: ['token:read'], ...body }, headers });

/** Any valid key may list the permissions. */
async function isAccepted(key: string): Promise<boolean> {
  const { status } = await send('GET', '/permissions', { key });
  if (status !== 200 && status !== 401) throw new Error(`answered ${status}`);
  return status === 200;
}

const rule = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };

test('a session is made, authorized, listed, and ends', async () => {
  const { waitingSession, tenant } = api.current;
  const made = await waitingSession();
  expect(made).toMatchObject({
    id: uuidText,
    session_key: expect.stringMatching(/^svc_test_ses_\w{49}$/),
    nonce: expect.stringMatching(/^\w{32}$/),
    expires_at: isoDate,
  });
  expect(await isAccepted(made.session_key)).toBe(false);
  const waiting = {
    id: made.id,
    state: 'waiting',
    application_id: made.maker.id,
    permissions: [],
    rules: [],
    created_at: isoDate,
    expires_at: made.expires_at,
  };
  expect((await send('GET', `/sessions/${made.id}`)).body).toEqual(waiting);

  const answer = await authorize(made.authorizer.key, {
    nonce: made.nonce,
    permissions: ['token:use', 'token:use'],
    rules: [rule],
  });
  expect(answer).toMatchObject({ status: 200, body: '' });
  expect(answer.headers.get('svc-revocation')).toMatch(/^change=/);
  expect(await isAccepted(made.session_key)).toBe(true);
  const authorized = {
    ...waiting,
    state: 'authorized',
    authorized_by: made.authorizer.id,
    permissions: ['token:use'],
    rules: [rule],
  };
  expect((await send('GET', `/sessions/${made.id}`)).body).toEqual(authorized);
  const { body } = await send('GET', '/sessions?size=1');
  expect(body.data).toEqual([authorized]);
  expect(JSON.stringify(body)).not.toMatch(/svc_test|nonce/);

  const ended = await send('DELETE', `/sessions/${made.id}`);
  expect([ended.status, ended.headers.get('svc-revocation')]).toEqual([204, expect.stringMatching(/^change=/)]);
  expect(await isAccepted(made.session_key)).toBe(false);
  expect((await send('GET', `/sessions/${made.id}`)).status).toBe(404);
  expect((await send('DELETE', `/sessions/${made.id}`)).status).toBe(404);
  expect(tenant.tenant_id).toEqual(uuidText);
});

test('201 has a Location, and no idempotency key is kept', async () => {
  const { application } = api.current;
  const { key } = await application({ type: 'public', permissions: ['token:create'] });
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const [one, other] = [
    await send('POST', '/sessions', { key, headers }),
    await send('POST', '/sessions', { key, headers }),
  ];
  expect([one.status, one.headers.get('location')]).toEqual([201, `/sessions/${one.body.id}`]);
  expect(other.body.id).not.toBe(one.body.id);
});

slow('0.5 s')('of 100 parallel authorizations one succeeds, the others are 409', async () => {
  const { nonce, authorizer } = await api.current.waitingSession();
  const answers = await Promise.all(Array.from({ length: 100 }, () => authorize(authorizer.key, { nonce })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(99);
});

test('authorizing under an idempotency key acts once; another body under it is 409, and a failure is not kept', async () => {
  const { waitingSession, db } = api.current;
  const { id, nonce, authorizer } = await waitingSession();
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  expect((await authorize(authorizer.key, { nonce: 'unknown' }, headers)).status).toBe(404);
  for (let i = 0; i < 2; i++) expect((await authorize(authorizer.key, { nonce }, headers)).status).toBe(200);
  expect((await authorize(authorizer.key, { nonce, permissions: ['token:use'] }, headers)).status).toBe(409);
  expect((await authorize(authorizer.key, { nonce })).status).toBe(409);
  expect(await db.selectFrom('audit_log').select('operation').where('entity_id', '=', id).execute()).toHaveLength(1);
});

test('a nonce that never existed, and one that has expired, is 404', async () => {
  const { waitingSession, db } = api.current;
  const { id, nonce, authorizer } = await waitingSession();
  expect((await authorize(authorizer.key, { nonce: 'ExampleExampleExampleExampleExam' })).status).toBe(404);
  const expires_at = new Date(Date.now() - 1).toISOString();
  await db.updateTable('sessions').set({ expires_at }).where('id', '=', id).execute();
  expect((await authorize(authorizer.key, { nonce })).status).toBe(404);
});

describe('GET /sessions', () => {
  test('newest first, by page, with totals of what has not ended', async () => {
    const { anotherTenant, waitingSession, db } = api.current;
    const { management_key: key } = await anotherTenant('lists');
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await waitingSession({ key })).id);
    const expires_at = new Date(Date.now() - 1).toISOString();
    await db
      .updateTable('sessions')
      .set({ expires_at })
      .where('id', '=', ids[1] ?? '')
      .execute();
    const there = ids.filter((id) => id !== ids[1]);
    const page = async (query: string) => (await send('GET', `/sessions${query}`, { key })).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const [first, second, third] = [await page('?size=3'), await page('?size=3&page=2'), await page('?size=3&page=3')];
    expect([...idsOf(first), ...idsOf(second)]).toEqual(there);
    expect(third.data).toEqual([]);
    for (const { pagination } of [first, second, third]) {
      expect(pagination).toMatchObject({ page_size: 3, total_items: 4, total_pages: 2 });
    }
  });

  test.each(['?page=0', '?size=0', '?size=101', '?page=x'])('%s is 400', async (query) => {
    expect((await send('GET', `/sessions${query}`)).status).toBe(400);
  });
});

test('503 where a change could not be confirmed: it stands, and a session that was ended is gone', async () => {
  const { session, waitingSession, db } = api.current;
  const { nonce, authorizer, session_key } = await waitingSession();
  const ended = await session();
  const lock = await db.startTransaction().execute();
  try {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
    await sql`lock table cache_leases in access exclusive mode`.execute(lock);
    const statuses = await Promise.all([authorize(authorizer.key, { nonce }), send('DELETE', `/sessions/${ended.id}`)]);
    expect(statuses.map(({ status }) => status)).toEqual([503, 503]);
  } finally {
    await lock.rollback().execute();
  }
  expect([await isAccepted(session_key), await isAccepted(ended.session_key)]).toEqual([true, false]);
});

describe('who may', () => {
  test('make: a public Application only; a session neither makes nor authorizes', async () => {
    const { application, tenant, session, waitingSession } = api.current;
    const { key: privateKey } = await application();
    const { session_key, maker } = await session();
    for (const key of [privateKey, tenant.management_key, session_key]) expect((await make(key)).status).toBe(403);
    expect((await make('none')).status).toBe(401);
    const { nonce, authorizer } = await waitingSession();
    for (const key of [maker.key, tenant.management_key, session_key]) {
      expect((await authorize(key, { nonce })).status).toBe(403);
    }
    expect((await authorize('none', { nonce })).status).toBe(401);
    expect((await authorize(authorizer.key, { nonce })).status).toBe(200);
  });

  test('is told before anything of the request is looked at: type, body, nonce', async () => {
    const { application, tenant, session } = api.current;
    const { session_key, maker } = await session();
    const { key: privateKey } = await application();
    const junk = { body: '{', headers: { 'Content-Type': 'text/plain' } };
    for (const [method, path, refused, holder] of [
      ['POST', '/sessions', [privateKey, tenant.management_key, session_key], 'a `public` Application'],
      ['POST', '/sessions/authorize', [maker.key, tenant.management_key, session_key], 'a `private` Application'],
      ['DELETE', '/sessions/self', [maker.key, privateKey, tenant.management_key], 'a session'],
    ] as const) {
      for (const key of refused) {
        expect(await send(method, path, { key, ...junk })).toMatchObject({
          status: 403,
          body: { detail: `This operation needs the key of ${holder}` },
        });
      }
    }
  });

  test('end: the session itself, whoever holds application:update; nobody else', async () => {
    const { application, session, keyWith } = api.current;
    const { id, session_key } = await session();
    const reader = await keyWith('application:read');
    expect((await send('DELETE', '/sessions/self', { key: (await application()).key })).status).toBe(403);
    expect((await send('DELETE', `/sessions/${id}`, { key: reader })).status).toBe(403);
    expect((await send('DELETE', `/sessions/${id}`, { key: session_key })).status).toBe(403);
    expect((await send('GET', `/sessions`, { key: session_key })).status).toBe(403);
    const ended = await send('DELETE', '/sessions/self', { key: session_key });
    expect([ended.status, ended.headers.get('svc-revocation')]).toEqual([204, expect.stringMatching(/^change=/)]);
    expect(await isAccepted(session_key)).toBe(false);
    expect((await send('DELETE', '/sessions/self', { key: session_key })).status).toBe(401);
  });

  test('another Tenant’s nonce and session are 404', async () => {
    const { waitingSession, application, stranger } = api.current;
    const theirs = await waitingSession({ key: stranger.management_key });
    const { key } = await application();
    expect((await authorize(key, { nonce: theirs.nonce })).status).toBe(404);
    expect((await send('GET', `/sessions/${theirs.id}`)).status).toBe(404);
    expect((await send('DELETE', `/sessions/${theirs.id}`)).status).toBe(404);
    expect((await authorize(theirs.authorizer.key, { nonce: theirs.nonce })).status).toBe(200);
  });
});

describe('authorize is 400', () => {
  const condition = { attribute: 'id', operator: 'equals', value: 'x' };
  const conditional = { priority: 1, transform: 'mask', permissions: ['token:read'], conditions: [condition] };
  const past = new Date(Date.now() - 1000).toISOString();
  /** Of the moment at which it is sent, however long the tests before it took. */
  const tooFar = {
    get expires_at() {
      return new Date(Date.now() + 24 * 3600_000 + 60_000).toISOString();
    },
  };

  test.each<[string, object, string]>([
    ['nothing granted', { permissions: [], rules: [] }, 'permissions'],
    ['a management permission', { permissions: ['token:read', 'proxy:read'] }, 'permissions[1]'],
    [
      'an unknown permission in a rule',
      { rules: [{ ...rule, permissions: ['token:nothing'] }] },
      'rules[0].permissions[0]',
    ],
    ['a rule with neither', { rules: [{ ...rule, container: undefined }] }, 'rules[0]'],
    ['a rule with empty conditions alone', { rules: [{ ...conditional, conditions: [] }] }, 'rules[0]'],
    ['a rule with both', { rules: [{ ...conditional, container: '/' }] }, 'rules[0].conditions'],
    ['101 rules', { rules: Array(101).fill(rule) }, 'rules'],
    [
      'eleven conditions',
      { rules: [{ ...conditional, conditions: Array(11).fill(condition) }] },
      'rules[0].conditions',
    ],
    [
      'a container that is none',
      { rules: [{ ...conditional, conditions: [{ ...condition, attribute: 'container', value: '%' }] }] },
      'rules[0].conditions[0].value',
    ],
    ['fields that are no boolean', { fields: 'yes' }, 'fields'],
    ['no reactors', { reactors: [] }, 'reactors'],
    ['no Proxies', { proxies: [] }, 'proxies'],
    ['a reactor that is no id', { reactors: ['x'] }, 'reactors[0]'],
    ['a Proxy that is no id', { proxies: ['x'] }, 'proxies[0]'],
    ['an address that is none', { address: '1.2.3' }, 'address'],
    ['an end in the past', { expires_at: past }, 'expires_at'],
    ['an end more than 24 hours ahead', tooFar, 'expires_at'],
    ['no nonce', { nonce: undefined }, 'nonce'],
  ])('%s', async (_, part, member) => {
    const { nonce, authorizer } = await api.current.waitingSession();
    const { status, body } = await authorize(authorizer.key, { nonce, ...part });
    expect({ status, members: Object.keys(body.errors) }).toEqual({ status: 400, members: [member] });
    expect((await authorize(authorizer.key, { nonce })).status).toBe(200);
  });

  test('415 and 413', async () => {
    const { nonce, authorizer } = await api.current.waitingSession();
    expect((await authorize(authorizer.key, { nonce }, { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await authorize(authorizer.key, { nonce, note: 'x'.repeat(1_100_000) })).status).toBe(413);
  });
});

test('it may be bound to Proxies, to reactors, or to both, and shows which', async () => {
  const { session, db } = api.current;
  const [proxy, reactor] = [randomUUID(), randomUUID()];
  for (const bound of [{ proxies: [proxy] }, { reactors: [reactor] }, { proxies: [proxy], reactors: [reactor] }]) {
    const { id } = await session(bound);
    const { proxies, reactors } = (await send('GET', `/sessions/${id}`)).body;
    expect({ ...(proxies && { proxies }), ...(reactors && { reactors }) }).toEqual(bound);
    // Gateways that know no reactors refuse every Proxy that is not named.
    const stored = db.selectFrom('sessions').select('proxies').where('id', '=', id);
    expect((await stored.executeTakeFirstOrThrow()).proxies).toEqual('proxies' in bound ? bound.proxies : []);
  }
});

test('a rule with a container and empty conditions is taken', async () => {
  const { nonce, authorizer } = await api.current.waitingSession();
  expect((await authorize(authorizer.key, { nonce, rules: [{ ...rule, conditions: [] }] })).status).toBe(200);
});

test('it ends at its moment: three minutes by default, or when it was told to', async () => {
  const { session, db } = api.current;
  const made = await session();
  expect((await send('GET', `/sessions/${made.id}`)).body.expires_at).toBe(made.expires_at);
  const expires_at = new Date(Date.now() + 3600_000).toISOString();
  const longer = await session({ expires_at });
  expect((await send('GET', `/sessions/${longer.id}`)).body.expires_at).toBe(expires_at);
  await db
    .updateTable('sessions')
    .set({ expires_at: new Date(Date.now() - 1).toISOString() })
    .where('id', '=', made.id)
    .execute();
  expect([await isAccepted(made.session_key), await isAccepted(longer.session_key)]).toEqual([false, true]);
  expect((await send('GET', `/sessions/${made.id}`)).status).toBe(404);
  expect((await authorize(made.authorizer.key, { nonce: made.nonce })).status).toBe(404);
});

describe('401 where the Application of the caller goes between its authentication and its act', () => {
  /** The transaction is committed once the request waits for it. */
  async function deletedMeanwhile(id: string, request: () => ReturnType<typeof send>) {
    const { db } = api.current;
    const deletion = await db.startTransaction().execute();
    await deletion.deleteFrom('applications').where('id', '=', id).execute();
    const answer = request();
    await untilLockIsAwaited(db);
    await deletion.commit().execute();
    return (await answer).status;
  }

  test('making', async () => {
    const { id, key } = await api.current.application({ type: 'public', permissions: ['token:create'] });
    expect(await deletedMeanwhile(id, () => make(key))).toBe(401);
  });

  test('authorizing', async () => {
    const { nonce, authorizer } = await api.current.waitingSession();
    expect(await deletedMeanwhile(authorizer.id, () => authorize(authorizer.key, { nonce }))).toBe(401);
  });
});

test('a session whose Application has expired is 404 to whoever ends it, as to whoever reads it', async () => {
  const { session, db } = api.current;
  const { id, authorizer } = await session();
  const expires_at = new Date(Date.now() - 1).toISOString();
  await db.updateTable('applications').set({ expires_at }).where('id', '=', authorizer.id).execute();
  expect((await send('GET', `/sessions/${id}`)).status).toBe(404);
  expect((await send('DELETE', `/sessions/${id}`)).status).toBe(404);
});

test('of many requests with which a session ends itself one is 204, and the others 401', async () => {
  const { session_key: key } = await api.current.session();
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => (await send('DELETE', '/sessions/self', { key })).status),
  );
  expect(statuses.sort()).toEqual([204, ...Array(9).fill(401)]);
});

describe('it ends with what it depends on, once that is confirmed', () => {
  type Session = Awaited<ReturnType<typeof api.current.session>>;
  const due = () => ({ expires_at: new Date(Date.now() - 1).toISOString() });
  const keyOf = async (id: string) => (await send('GET', `/applications/${id}/keys`)).body.at(-1).id as string;
  const expireApplication = (id: string) =>
    api.current.db.updateTable('applications').set(due()).where('id', '=', id).execute();

  test.each<[string, (session: Session) => Promise<unknown>]>([
    ['the public Application is deleted', ({ maker }) => send('DELETE', `/applications/${maker.id}`)],
    ['the private Application is deleted', ({ authorizer }) => send('DELETE', `/applications/${authorizer.id}`)],
    ['the public Application expires', ({ maker }) => expireApplication(maker.id)],
    ['the private Application expires', ({ authorizer }) => expireApplication(authorizer.id)],
    [
      'the private Application’s keys are regenerated',
      ({ authorizer }) => send('POST', `/applications/${authorizer.id}/regenerate`),
    ],
    [
      'the key that authorized it is deleted',
      async ({ authorizer }) => {
        await send('POST', `/applications/${authorizer.id}/keys`);
        return send('DELETE', `/applications/${authorizer.id}/keys/${await keyOf(authorizer.id)}`);
      },
    ],
    [
      'the key that authorized it expires',
      async ({ authorizer }) => {
        const id = await keyOf(authorizer.id);
        await api.current.db.updateTable('application_keys').set(due()).where('id', '=', id).execute();
      },
    ],
  ])('%s', async (_, end) => {
    const session = await api.current.session();
    expect(await isAccepted(session.session_key)).toBe(true);
    await end(session);
    expect(await isAccepted(session.session_key)).toBe(false);
    expect((await send('GET', `/sessions/${session.id}`)).status).toBe(404);
  });

  test('its Tenant is closed', async () => {
    const { anotherTenant, session } = api.current;
    const { management_key: key } = await anotherTenant('closed soon');
    const { session_key } = await session({}, { key });
    expect(await isAccepted(session_key)).toBe(true);
    await send('DELETE', '/tenants/self', { key });
    expect(await isAccepted(session_key)).toBe(false);
  });

  test.each<[string, (session: Session) => Promise<unknown>]>([
    [
      'keys of the public Application are regenerated',
      ({ maker }) => send('POST', `/applications/${maker.id}/regenerate`),
    ],
    [
      'another key of the private Application is deleted',
      async ({ authorizer }) => {
        const { body } = await send('POST', `/applications/${authorizer.id}/keys`);
        return send('DELETE', `/applications/${authorizer.id}/keys/${body.id}`);
      },
    ],
  ])('it stays where %s', async (_, change) => {
    const session = await api.current.session();
    await change(session);
    expect(await isAccepted(session.session_key)).toBe(true);
  });
});

describe('address', () => {
  test('takes only a session that was made from there, whatever the client writes; 403 otherwise', async () => {
    const { application } = api.current;
    const maker = await application({ type: 'public', permissions: ['token:create'] });
    const { key } = await application();
    const { nonce, id } = (await make(maker.key, '203.0.113.9, 192.0.2.7')).body;
    expect((await authorize(key, { nonce, address: '203.0.113.9' })).status).toBe(403);
    expect((await authorize(key, { nonce, address: '::ffff:192.0.2.7' })).status).toBe(200);
    expect((await send('GET', `/sessions/${id}`)).body.address).toBe('192.0.2.7');
  });
});

test('the audit log: nothing of a session that waits; who authorized it; that it ended itself, and for whom', async () => {
  const { db, waitingSession } = api.current;
  const { id, nonce, session_key, authorizer } = await waitingSession();
  const rows = () => db.selectFrom('audit_log').selectAll().where('entity_id', '=', id).orderBy('at').execute();
  expect(await rows()).toEqual([]);
  await authorize(authorizer.key, { nonce });
  await send('DELETE', '/sessions/self', { key: session_key });
  expect(await rows()).toMatchObject([
    { operation: 'authorize', entity_type: 'session', actor_id: authorizer.id, actor_type: 'application' },
    { operation: 'delete', actor_id: id, actor_type: 'session', detail: { application_id: authorizer.id } },
  ]);
});

test('no row holds the key or the nonce', async () => {
  const { session, db } = api.current;
  const { session_key, nonce } = await session();
  const text = JSON.stringify(await db.selectFrom('sessions').selectAll().execute());
  expect(text).not.toContain(session_key);
  expect(text).not.toContain(nonce);
});

test('pages of any origin may make a session, and nothing else of it', async () => {
  const preflight = await send('OPTIONS', '/sessions', { headers: { Origin: 'https://shop.example' } });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  const { session } = api.current;
  const { id } = await session();
  expect(
    (await send('GET', `/sessions/${id}`, { headers: { Origin: 'https://shop.example' } })).headers.get(
      'access-control-allow-origin',
    ),
  ).toBeNull();
});
