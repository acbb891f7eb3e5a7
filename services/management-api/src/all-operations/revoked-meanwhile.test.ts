import { type CallOptions, call, eventually, startTestService, useStack } from '@sluice/testing';
import { type RawBuilder, sql } from 'kysely';
import { operations } from '../app.ts';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { callerFor } from '../testing/caller-for.ts';
import { changesNothing, sampleRequest } from '../testing/sample-requests.ts';
import { sortedLines } from '../testing/sorted-lines.ts';
import { startTestManagement } from '../testing/test-management.ts';

/** The thief calls another process, because in one process changes of a row wait for each other before they lock it. */
const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const { databaseUrl, secrets } = management;
  const { url } = await startTestService({ configSchema, start }, { databaseUrl, secrets, stack });
  const sendElsewhere = (method: string, path: string, options: CallOptions) => call(url, method, path, options);
  return { ...management, sendElsewhere };
});

async function untilLocksAreAwaited(
  count: number,
  { db }: Pick<typeof api.current, 'db'> = api.current,
): Promise<void> {
  await eventually(`${count} wait for a lock`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return rows.length === count;
  });
}

const writing = operations.filter(({ id, method }) => method !== 'get' && !changesNothing.includes(id));
type Operation = (typeof operations)[number];

const permissions = ['application:update', 'application:delete', 'application:read'];

/** A management Application whose key was stolen. */
async function createVictim() {
  const { application, addKey, db, send, sendElsewhere } = api.current;
  const { id, key } = await application({ type: 'management', permissions });
  const keyId = await addKey(id);
  const rowOf = () => db.selectFrom('applications').select('permissions').where('id', '=', id).executeTakeFirst();
  const keys = () => db.selectFrom('application_keys').select('id').where('application_id', '=', id).execute();
  const put = (held: string[], thief?: { key: string }) => {
    const body = { name: 'A', permissions: held };
    return thief
      ? sendElsewhere('PUT', `/applications/${id}`, { body, ...thief })
      : send('PUT', `/applications/${id}`, { body });
  };
  /** Both wait for the row, the owner first. */
  async function race<T>(owner: () => Promise<T>, thief: () => Promise<T>): Promise<[T, T]> {
    const lock = await db.startTransaction().execute();
    const waiting: Promise<T>[] = [];
    try {
      await sql`select from applications where id = ${id}::uuid for update`.execute(lock);
      for (const act of [owner, thief]) {
        waiting.push(act());
        await untilLocksAreAwaited(waiting.length);
      }
    } finally {
      await lock.rollback().execute();
    }
    return (await Promise.all(waiting)) as [T, T];
  }
  return { id, key, keyId, rowOf, keys, put, race };
}

const onApplications = writing.filter(({ path }) => path.startsWith('/applications/:id'));

describe('a request that waits for an Application while its key is revoked', () => {
  test.each(onApplications.map((operation) => [operation.id, operation] as const))(
    '%s is 401',
    async (_, operation) => {
      const { send, sendElsewhere } = api.current;
      const { id, key, keyId, rowOf, keys, race } = await createVictim();
      const { method, path, options } = sampleRequest(operation, id, keyId);
      const [owner, thief] = await race(
        () => send('POST', `/applications/${id}/regenerate`),
        () => sendElsewhere(method, path, { ...options, key }),
      );
      expect([owner.status, thief.status]).toEqual([200, 401]);
      expect(owner.headers.get('svc-revocation')).toContain('change=');
      expect(await keys()).toHaveLength(1);
      expect(await rowOf()).toEqual({ permissions });
      expect((await send('GET', `/applications/${id}`, { key: owner.body.key })).status).toBe(200);
    },
  );

  test('is 401 where its Application is deleted', async () => {
    const { send, sendElsewhere } = api.current;
    const { id, key, race } = await createVictim();
    const [owner, thief] = await race(
      () => send('DELETE', `/applications/${id}`),
      () => sendElsewhere('POST', `/applications/${id}/keys`, { key }),
    );
    expect([owner.status, thief.status]).toEqual([204, 401]);
  });
});

test.each([
  ['is 403 where its right was taken away', ['application:read'], 403],
  ['is 503 where other rights changed', ['application:update', 'application:read'], 503],
])('a narrowing is not undone by a request that waited: it %s', async (_, narrowed, status) => {
  const { key, rowOf, put, race } = await createVictim();
  const [owner, thief] = await race(
    () => put(narrowed),
    () => put(permissions, { key }),
  );
  expect([owner.status, thief.status]).toEqual([200, status]);
  expect(thief.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
  expect(await rowOf()).toEqual({ permissions: narrowed });
});

/** What each waits for before its last statements. The others wait for the log. */
const waitsFor: Record<string, RawBuilder<unknown>> = {
  createSession: sql.table('sessions'),
  deleteTenant: sql.table('data_keys'),
};

test('every operation that writes looks at its caller after its waits', async () => {
  await using stack = new AsyncDisposableStack();
  const management = await startTestManagement(stack);
  const { db, send, application, proxy, formula, reactor, session, addKey, memberId, invitation } = management;
  const target = {
    application: await application(),
    proxy: await proxy(),
    formula: await formula(),
    reactor: await reactor(),
    session: await session(),
    member: { id: await memberId() },
    invitation: await invitation(),
  };
  const keyId = await addKey(target.application.id);
  const tables = [
    'tenants',
    'applications',
    'application_keys',
    'sessions',
    'proxies',
    'proxy_versions',
    'reactors',
    'reactor_formulas',
    'data_keys',
    'members',
    'invitations',
    'audit_log',
  ] as const;
  const state = async () => {
    const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
    return sortedLines(rows.flat().map((row) => ({ ...row, use_count: undefined })));
  };
  const idFor = ({ path }: Operation): string => {
    if (path.startsWith('/sessions')) return target.session.id;
    if (path.startsWith('/tenants/self/members')) return target.member.id;
    if (path.startsWith('/tenants/self/invitations')) return target.invitation.id;
    if (path.startsWith('/reactor-formulas')) return target.formula.id;
    if (path.startsWith('/reactors')) return target.reactor.id;
    return path.startsWith('/proxies') ? target.proxy.id : target.application.id;
  };
  /** Of all that may be the caller: the target is locked by its own change. */
  const setRights = async (changed: RawBuilder<unknown>) => {
    const { id } = target.application;
    await sql`update applications set permissions = ${changed} where id <> ${id}::uuid`.execute(db);
  };
  const answers: Record<string, unknown> = {};
  for (const operation of writing) {
    const { key, body } = await callerFor(management, operation);
    const { method, path, options } = sampleRequest(operation, idFor(operation), keyId);
    const before = await state();
    const lock = await db.startTransaction().execute();
    await sql`lock table ${waitsFor[operation.id] ?? sql.table('audit_log')} in access exclusive mode`.execute(lock);
    const answer = send(method, path, { ...options, key, ...(body && { body }) });
    await untilLocksAreAwaited(1, management);
    await setRights(sql`permissions || array['other']`);
    await lock.commit().execute();
    const { status, headers } = await answer;
    answers[operation.id] = [status, headers.get('retry-after')];
    await setRights(sql`array_remove(permissions, 'other')`);
    if (operation.id !== 'endOwnSession') expect(await state()).toEqual(before);
  }
  const refused = writing.map(({ id }) => [id, [503, '1']]);
  // A session that ends itself needs no right.
  expect(answers).toEqual({ ...Object.fromEntries(refused), endOwnSession: [204, null] });
});

test('an Application may change, and end, its own rights and keys, whose ids may be in capitals', async () => {
  const { send } = api.current;
  const { id, key, keyId, put } = await createVictim();
  const self = `/applications/${id.toUpperCase()}`;
  const narrowed = permissions.slice(0, 2);
  const added = await send('POST', `${self}/keys`, { key });
  const own = added.body.key;
  const statuses = [
    added.status,
    (await send('DELETE', `${self}/keys/${keyId.toUpperCase()}`, { key: own })).status,
    (await send('DELETE', `${self}/keys/${added.body.id}`, { key: own })).status,
    (await put(narrowed, { key })).status,
  ];
  expect(statuses).toEqual([201, 204, 204, 200]);
  const { status, body } = await send('POST', `${self}/regenerate`, { key });
  expect(status).toBe(200);
  expect((await send('DELETE', self, { key })).status).toBe(401);
  expect((await send('DELETE', self, { key: body.key })).status).toBe(204);
});
