import { tagOf } from '@sluice/cache-coherence';
import { deleteApplication } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { type CallOptions, openTestCoherence, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { operations } from './app.ts';
import { everything, reveal, startTestTokenVault } from './testing/test-token-vault.ts';

/** Requests wait for a lock, and meanwhile the rights of their Application end, confirmed by the vault. */
const service = useStack(async (stack) => {
  let url = '';
  const vault = await startTestTokenVault(stack, (direct) => {
    url = direct;
    return direct;
  });
  const { changes } = await openTestCoherence({ db: vault.db, url }, stack);
  return { ...vault, changes };
});

const data = 'the value';
const idempotent = { headers: { 'SVC-IDEMPOTENCY-KEY': 'one' } };
const merging = { 'Content-Type': 'application/merge-patch+json' };

type Request = [method: string, path: string, options?: CallOptions];
type Application = Awaited<ReturnType<typeof service.current.createApplication>>;

async function createToken() {
  const application = await service.current.createApplication({ rules: [reveal] });
  const send = (...[method, path, options]: Request) =>
    service.current.send(method, path, { key: application.key, ...options });
  const body = { data, deduplicate_token: true };
  const created = await send('POST', '/tokens', { body, ...idempotent });
  expect(created.status).toBe(201);
  const id: string = created.body.id;
  return { application, send, body, id };
}

const ends: Record<string, (tx: Queryable, application: Application) => Promise<unknown>> = {
  deleted: (tx, { tenantId, id }) => deleteApplication(tx, tenantId, id),
  changed: (tx, { id }) =>
    tx.updateTable('applications').set({ permissions: everything }).where('id', '=', id).execute(),
};

async function end(how: string, application: Application): Promise<void> {
  const { db, changes } = service.current;
  const { tenantId, id } = application;
  const change = await db.transaction().execute(async (tx) => {
    await ends[how]?.(tx, application);
    return changes.record(tx, tenantId, [tagOf.application(id)]);
  });
  await changes.barrier(change);
}

interface Waiting {
  how: string;
  lock: (tx: Queryable, id: string) => Promise<unknown>;
  request: (token: Awaited<ReturnType<typeof createToken>>) => Request;
}

async function answerAfter({ how, lock, request }: Waiting) {
  const { db } = service.current;
  const token = await createToken();
  const { answer } = await db.transaction().execute(async (tx) => {
    await lock(tx, token.id);
    const answer = token.send(...request(token));
    await untilLockIsAwaited(db);
    if (how !== 'kept') await end(how, token.application);
    return { answer };
  });
  return { ...(await answer), id: token.id };
}

const readings: Record<string, Waiting['request']> = {
  listTokens: () => ['GET', '/tokens'],
  searchTokens: ({ id }) => ['POST', '/tokens/search', { body: { query: `id:${id}` } }],
  getToken: ({ id }) => ['GET', `/tokens/${id}`],
  walkTokens: () => ['GET', '/v2/tokens'],
  walkFoundTokens: ({ id }) => ['POST', '/v2/tokens/search', { body: { query: `id:${id}` } }],
  detokenize: ({ id }) => ['POST', '/detokenize', { body: [`{{ ${id} }}`] }],
};
const repetition: Waiting['request'] = ({ body }) => ['POST', '/tokens', { body, ...idempotent }];

test('all operations that only read are here', () => {
  const reading = operations.filter(({ method, idempotent }) => method === 'get' || idempotent === false);
  expect(Object.keys(readings)).toEqual(reading.map(({ id }) => id));
});

describe.each(Object.entries({ ...readings, 'a repeated creation': repetition }))('%s', (_, request) => {
  const lock: Waiting['lock'] = (tx) => sql`lock table tokens in access exclusive mode`.execute(tx);

  test.each([
    ['deleted', 401],
    ['changed', 503],
  ])('that waited for Postgres shows nothing to an Application that was %s meanwhile', async (how, status) => {
    const answer = await answerAfter({ how, lock, request });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain(data);
    if (status === 503) expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('that waited for Postgres answers an Application that is as it was', async () => {
    const answer = await answerAfter({ how: 'kept', lock, request });
    expect(answer.status).toBeLessThan(300);
    expect(JSON.stringify(answer.body)).toContain(data);
  });
});

const held = (tx: Queryable, id: string) =>
  tx.updateTable('tokens').set({ active_month: '2020-01-01' }).where('id', '=', id).execute();
const heldAndChanged = (tx: Queryable, id: string) =>
  tx.updateTable('tokens').set({ modified_at: new Date().toISOString() }).where('id', '=', id).execute();
const patching: Waiting['request'] = ({ id }) => [
  'PATCH',
  `/tokens/${id}`,
  { body: { metadata: { a: 'b' } }, headers: merging },
];
const changing: [string, Waiting['request'], Waiting['lock']][] = [
  ['a patch that waited for the token', patching, held],
  ['a patch that begins anew, because another changed the token', patching, heldAndChanged],
  ['a deletion that waited for the token', ({ id }) => ['DELETE', `/tokens/${id}`], held],
];

describe.each(changing)('%s', (_, request, lock) => {
  const rowOf = (id: string) =>
    service.current.db.selectFrom('tokens').select('metadata').where('id', '=', id).executeTakeFirst();

  test.each([
    ['deleted', 401],
    ['changed', 503],
  ])('changes nothing for an Application that was %s meanwhile', async (how, status) => {
    const answer = await answerAfter({ how, lock, request });
    expect([answer.status, await rowOf(answer.id)]).toEqual([status, { metadata: {} }]);
  });

  test('is done for an Application that is as it was', async () => {
    const answer = await answerAfter({ how: 'kept', lock, request });
    expect(answer.status).toBeLessThan(300);
    expect(await rowOf(answer.id)).not.toEqual({ metadata: {} });
  });
});

describe('a creation that waited for an equal token', () => {
  const request: Waiting['request'] = ({ body }) => ['POST', '/tokens', { body }];
  const lock = async (tx: Queryable, id: string) => {
    await held(service.current.db, id);
    await held(tx, id);
  };

  test.each([
    ['deleted', 401],
    ['changed', 503],
    ['kept', 200],
  ])('where the Application was %s meanwhile', async (how, status) => {
    const answer = await answerAfter({ how, lock, request });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body).includes(data)).toBe(status === 200);
  });
});

describe('a creation that waited for the lock of its fingerprint, which another process held', () => {
  /** The equal token is gone, so the creation stores one of its own. */
  const lock: Waiting['lock'] = async (tx, id) => {
    const { db } = service.current;
    const { tenant_id, fingerprint } = await db
      .deleteFrom('tokens')
      .where('id', '=', id)
      .returning(['tenant_id', 'fingerprint'])
      .executeTakeFirstOrThrow();
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${tenant_id}/${fingerprint}`}, 0))`.execute(tx);
    created.tenantId = tenant_id;
  };
  const created = { tenantId: '' };
  const countOf = async (table: 'tokens' | 'idempotency_records') => {
    const rows = await service.current.db
      .selectFrom(table)
      .select('created_at')
      .where('tenant_id', '=', created.tenantId)
      .execute();
    return rows.length;
  };

  test.each([
    ['deleted', 401, 0],
    ['changed', 503, 0],
    ['kept', 201, 1],
  ])('where the Application was %s meanwhile', async (how, status, tokens) => {
    const answer = await answerAfter({ how, lock, request: ({ body }) => ['POST', '/tokens', { body }] });
    expect([answer.status, await countOf('tokens')]).toEqual([status, tokens]);
  });

  test.each([
    ['deleted', 401, 0],
    ['changed', 503, 0],
    ['kept', 201, 1],
  ])('with an idempotency key, where the Application was %s meanwhile', async (how, status, more) => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'two' };
    const answer = await answerAfter({ how, lock, request: ({ body }) => ['POST', '/tokens', { body, headers }] });
    const counts = [await countOf('tokens'), await countOf('idempotency_records')];
    expect([answer.status, counts]).toEqual([status, [more, 1 + more]]);
  });
});
