import { roles } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { eventually, openTestCoherence, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(async (stack) => {
  let url = '';
  const vault = await startTestTokenVault(stack, (direct) => {
    url = direct;
    return direct;
  });
  const { changes } = await openTestCoherence({ db: vault.db, url }, stack);
  return { ...vault, changes };
});

const canary = 'canary of the console';
const path = '/api/tokens';

async function tenantWithToken() {
  const { createTenant, createKey, createMember, send } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const create = async (body: object) => (await send('POST', '/tokens', { key, body })).body;
  const token = await create({
    data: canary,
    mask: '{{ data | last4 }}',
    metadata: { customer: 'c-1' },
    search_indexes: ['{{ data }}'],
    fingerprint_expression: '{{ data }}',
    containers: ['/secret/'],
    deduplicate_token: true,
  });
  const card = await create({ type: 'card', data: { number: '4242424242424242' } });
  expect(token.fingerprint).toBeDefined();
  return { tenantId, key, token, card, auditor: await createMember(tenantId, 'AUDITOR') };
}

type Member = Awaited<ReturnType<typeof service.current.createMember>>;

const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe('GET /api/tokens', () => {
  test('200: tokens without data, mask and fingerprint, for each role, and nobody is noted as a reader', async () => {
    const { tenantId, token, card } = await tenantWithToken();
    for (const role of roles) {
      const { send } = await service.current.createMember(tenantId, role);
      const { status, body, headers } = await send('GET', path);
      expect([role, status, idsOf(body)]).toEqual([role, 200, [card.id, token.id]]);
      const { data: _, mask: __, fingerprint: ___, ...described } = token;
      expect(body.data[1]).toEqual(described);
      expect(body.pagination).toEqual({ total_items: 2, page_number: 1, page_size: 20, total_pages: 1 });
      expect(JSON.stringify(body)).not.toContain(canary);
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
    const reads = await service.current.db
      .selectFrom('audit_log')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('operation', '=', 'read')
      .execute();
    expect(reads).toEqual([]);
  });

  test('it is no use of a token, and does not count as activity', async () => {
    const { db } = service.current;
    const { tenantId, auditor, key, token } = await tenantWithToken();
    const active_month = '2020-01-01';
    await db.updateTable('tokens').set({ active_month }).where('tenant_id', '=', tenantId).execute();
    const months = async () =>
      db.selectFrom('tokens').select('active_month').distinct().where('tenant_id', '=', tenantId).execute();
    const before = await months();
    expect((await auditor.send('GET', path)).status).toBe(200);
    expect(await months()).toEqual(before);
    expect((await service.current.send('GET', `/tokens/${token.id}`, { key })).status).toBe(200);
    expect(await months()).not.toEqual(before); // control
  });

  test.each([
    ['type=card', 'card'],
    ['metadata.customer=c-1', 'token'],
  ] as const)('200 for ?%s', async (query, found) => {
    const { auditor, ...tokens } = await tenantWithToken();
    const { status, body } = await auditor.send('GET', `${path}?${query}`);
    expect([status, idsOf(body)]).toEqual([200, [tokens[found].id]]);
  });

  test('400 for a page of the size zero', async () => {
    const { auditor } = await tenantWithToken();
    const { status, body } = await auditor.send('GET', `${path}?size=0`);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['size']]);
  });
});

describe('POST /api/tokens/search', () => {
  const search = (send: Member['send'], query: unknown) => send('POST', `${path}/search`, { body: { query } });

  test('200: what matches, without its value', async () => {
    const { auditor, token, card } = await tenantWithToken();
    const found = await search(auditor.send, 'container:/secret/ AND metadata.customer:c-1');
    expect([found.status, idsOf(found.body), found.body.data[0].metadata]).toEqual([
      200,
      [token.id],
      { customer: 'c-1' },
    ]);
    for (const member of ['data', 'mask', 'fingerprint']) expect(found.body.data[0]).not.toHaveProperty(member);
    expect(idsOf((await search(auditor.send, 'NOT id:x')).body)).toEqual([card.id, token.id]);
  });

  test.each([
    ['data:canary', 0],
    ['fingerprint:x', 0],
    ['type:card OR NOT (data:"4242")', 18],
    ['nope:1', 0],
  ])('400 for %s, by which a value could be guessed, at its position', async (query, at) => {
    const { auditor } = await tenantWithToken();
    const { status, body } = await search(auditor.send, query);
    expect([status, body.errors.query]).toEqual([
      400,
      [
        `at character ${at}: expected one of id, type, container, created_by, created_at, modified_by, modified_at, metadata.<key>, "NOT" or "("`,
      ],
    ]);
  });

  test.each([undefined, 1, 'x'.repeat(201)])('400 for %j', async (query) => {
    const { auditor } = await tenantWithToken();
    expect((await search(auditor.send, query)).status).toBe(400);
  });
});

const requests = [
  ['GET', path, undefined],
  ['POST', `${path}/search`, { query: 'NOT id:x' }],
] as const;

describe.each(requests)('%s %s', (method, at, body) => {
  const options = { ...(body && { body }) };

  test('401 without a cookie, with a foreign one, with two, and with an API key alone', async () => {
    const { auditor, key } = await tenantWithToken();
    const mine = await tenantWithToken();
    for (const Cookie of [
      '',
      '__Host-sluice=x',
      `__Host-sluice=${'x'.repeat(43)}`,
      'a=b; __Host-sluice=a; __Host-sluice=b',
    ]) {
      expect([Cookie, (await auditor.send(method, at, { ...options, headers: { Cookie } })).status]).toEqual([
        Cookie,
        401,
      ]);
    }
    const { status } = await mine.auditor.send(method, at, { ...options, key, headers: { Cookie: '' } });
    expect(status).toBe(401);
  });

  test('403, said first, for what comes from elsewhere', async () => {
    const { auditor } = await tenantWithToken();
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      const headers = { 'Sec-Fetch-Site': site, Cookie: '__Host-sluice=x' };
      expect([site, (await auditor.send(method, at, { ...options, headers })).status]).toEqual([site, 403]);
    }
    const { status } = await auditor.send('POST', at, { ...options, headers: { 'SVC-CONSOLE': '0' } });
    expect(status).toBe(403);
  });

  test('403 for who may not read Applications', async () => {
    const { db, createMember } = service.current;
    const { tenantId } = await tenantWithToken();
    const { send, signInId } = await createMember(tenantId, 'AUDITOR');
    const application = await service.current.createApplication({
      tenantId,
      type: 'management',
      permissions: ['proxy:read'],
    });
    const { id: key_id } = await db
      .selectFrom('application_keys')
      .select('id')
      .where('application_id', '=', application.id)
      .executeTakeFirstOrThrow();
    await db
      .updateTable('sign_ins')
      .set({ user_id: null, application_id: application.id, key_id })
      .where('id', '=', signInId)
      .execute();
    const answer = await send(method, at, options);
    expect([answer.status, answer.body.detail]).toEqual([403, 'This operation needs the permission application:read']);
  });

  test("another Tenant's tokens are neither in data nor in totals", async () => {
    const [mine, other] = [await tenantWithToken(), await tenantWithToken()];
    const { body: found } = await mine.auditor.send(method, at, options);
    expect(found.pagination.total_items).toBe(2);
    for (const { id } of [other.token, other.card]) expect(JSON.stringify(found)).not.toContain(id);
  });

  test('it stands at no other host, and other operations do not stand there', async () => {
    const { auditor, key } = await tenantWithToken();
    const answer = await auditor.send(method, at, { ...options, key, headers: { Host: 'base.test' } });
    expect(answer.status).toBe(404);
    expect((await auditor.send(method, '/api/tokens/x', options)).status).toBe(405); // PATCH alone stands there
    for (const other of ['/api/tokens/x/y', '/api/v2/tokens', '/api/detokenize', '/tokens', '/tokenize']) {
      expect([other, (await auditor.send(method, other, { ...options, key })).status]).toEqual([other, 404]);
    }
  });

  const ends: Record<'was removed' | 'signed out', (tx: Queryable, member: Member) => Promise<unknown>> = {
    'was removed': (tx, { id }) => tx.deleteFrom('members').where('id', '=', id).execute(),
    'signed out': (tx, { signInId }) => tx.deleteFrom('sign_ins').where('id', '=', signInId).execute(),
  };

  async function end(how: keyof typeof ends, { tenantId, auditor }: Awaited<ReturnType<typeof tenantWithToken>>) {
    const { db, changes } = service.current;
    const tag = how === 'was removed' ? tagOf.user(auditor.userId) : tagOf.signIn(auditor.signInId);
    const change = await db.transaction().execute(async (tx) => {
      await ends[how](tx, auditor);
      return changes.record(tx, tenantId, [tag]);
    });
    await changes.barrier(change);
  }

  test.each(Object.keys(ends) as (keyof typeof ends)[])(
    '401 as soon as it is confirmed that who asks %s',
    async (how) => {
      const tenant = await tenantWithToken();
      expect((await tenant.auditor.send(method, at, options)).status).toBe(200);
      await end(how, tenant);
      expect((await tenant.auditor.send(method, at, options)).status).toBe(401);
    },
  );

  test.each([...(Object.keys(ends) as (keyof typeof ends)[]), undefined])(
    'a request that waited for Postgres answers nothing if its person %s meanwhile',
    async (how) => {
      const { db } = service.current;
      const tenant = await tenantWithToken();
      const { answer } = await db.transaction().execute(async (tx) => {
        await sql`lock table tokens in access exclusive mode`.execute(tx);
        const answer = tenant.auditor.send(method, at, options);
        await untilLockIsAwaited(db);
        if (how) await end(how, tenant);
        return { answer };
      });
      expect((await answer).status).toBe(how ? 401 : 200);
    },
  );
});

test('a sign-in that is used for tokens alone is noted as used', async () => {
  const { db } = service.current;
  const { auditor } = await tenantWithToken();
  const usedAt = async () =>
    (
      await db
        .selectFrom('sign_ins')
        .select('last_used_at')
        .where('id', '=', auditor.signInId)
        .executeTakeFirstOrThrow()
    ).last_used_at;
  const last_used_at = '2026-01-01T00:00:00.000Z';
  await db.updateTable('sign_ins').set({ last_used_at }).where('id', '=', auditor.signInId).execute();
  expect((await auditor.send('GET', path)).status).toBe(200);
  await eventually('the note', async () => (await usedAt()) !== last_used_at);
});
