import { randomUUID } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceLog } from '../testing/sequence-log.ts';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const createScene = async () => {
  const { anotherTenant, send, db } = api.current;
  const { management_key: key, tenant_id, application_id } = await anotherTenant('T');
  const list = async (query = '') => (await send('GET', `/logs${query}`, { key })).body;
  const idsOf = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
  async function insert(row: Record<string, unknown>): Promise<string> {
    const id = randomUUID();
    const text = JSON.stringify({ id, tenant_id, at: new Date().toISOString(), ...row });
    await sql`
      insert into audit_log (id, tenant_id, at, actor_id, actor_type, operation, entity_type, entity_id, message, trace_id, detail)
      select id, tenant_id, at, actor_id, actor_type, operation, entity_type, entity_id, message, trace_id, detail
      from jsonb_populate_record(null::audit_log, ${text}::jsonb)
    `.execute(db);
    return id;
  }
  return { key, tenant_id, application_id, list, idsOf, insert };
};

const use = {
  actor_type: 'application',
  operation: 'use',
  entity_type: 'proxy',
  entity_id: 'p',
  message: 'Proxy used',
};

describe('GET /logs', () => {
  test('tells who did what to which thing, newest first, with exact totals', async () => {
    const { key, tenant_id, application_id, list } = await createScene();
    const { id } = await api.current.application({}, { key, headers: { 'SVC-TRACE-ID': 'made-here' } });
    await api.current.send('DELETE', `/applications/${id}`, { key });
    const { pagination, data } = await list();
    expect(pagination).toEqual({ total_items: 3, page_number: 1, page_size: 20, total_pages: 1 });
    const by = { tenant_id, actor_id: application_id, actor_type: 'application', entity_type: 'application' };
    expect(data).toMatchObject([
      { ...by, entity_id: id, operation: 'delete', message: 'Application deleted' },
      { ...by, entity_id: id, operation: 'create', message: 'Application created', trace_id: 'made-here' },
      { tenant_id, actor_type: 'system', entity_type: 'tenant', entity_id: tenant_id, operation: 'create' },
    ]);
    expect(data[2]).not.toHaveProperty('actor_id');
  });

  test('finds rows by each filter, and by all of them together', async () => {
    const { idsOf, insert } = await createScene();
    const [actor, other] = [randomUUID(), randomUUID()];
    const at = '2026-02-03T04:05:06.000Z';
    const id = await insert({
      ...use,
      at,
      entity_id: 'mine',
      actor_id: actor,
      trace_id: 'one',
      detail: { token_ids: ['t1', 't2'] },
    });
    await insert({ ...use, actor_id: other, trace_id: 'two', operation: 'update', detail: { token_ids: ['t3'] } });
    const filters = ['entity_id=mine', `actor_id=${actor}`, 'operation=use', 'token_id=t2', 'trace_id=one'];
    const dates = [`start_date=${at}&end_date=2026-02-03T04:05:06.001Z`, 'start_date=2026-02-03&end_date=2026-02-04'];
    for (const query of [...filters, ...dates]) expect([query, await idsOf(`?${query}`)]).toEqual([query, [id]]);
    expect(await idsOf(`?entity_type=proxy&${filters.join('&')}&${dates[0]}`)).toEqual([id]);
    expect(await idsOf('?entity_type=proxy')).toHaveLength(2);
    expect(await idsOf(`?end_date=${at}`)).toEqual([]);
    expect(await idsOf(`?token_id=t2&end_date=${at}`)).toEqual([]);
    expect(await idsOf('?entity_type=tenant&operation=use')).toEqual([]);
  });

  test('by entity_id in capitals finds the thing; a token, whose id may be any text, only as it is written', async () => {
    const { list, idsOf, insert } = await createScene();
    const small = 'abcdef00-0000-4000-8000-00000000000a';
    const capitals = small.toUpperCase();
    const at = (second: number) => `2026-02-03T04:05:0${second}.000Z`;
    const inProxy = await insert({ ...use, at: at(1), entity_id: small });
    const token = { ...use, entity_type: 'token', operation: 'read' };
    const ofOther = await insert({ ...token, at: at(2), entity_id: small });
    const ofToken = await insert({ ...token, at: at(3), entity_id: capitals });
    expect(await idsOf(`?entity_id=${capitals}&entity_type=proxy`)).toEqual([inProxy]);
    expect(await idsOf(`?entity_id=${capitals}&entity_type=token`)).toEqual([ofToken]);
    expect(await idsOf(`?entity_id=${small}&entity_type=token`)).toEqual([ofOther]);
    expect(await idsOf(`?entity_id=${small}`)).toEqual([ofOther, inProxy]);
    const { pagination, data } = await list(`?entity_id=${capitals}&size=2`);
    expect([pagination.total_items, data.map(({ id }: { id: string }) => id)]).toEqual([3, [ofToken, ofOther]]);
    expect(await idsOf(`?entity_id=${capitals}&size=2&start=${pagination.next}`)).toEqual([inProxy]);
    expect(await idsOf(`?entity_id=${capitals}&operation=use`)).toEqual([inProxy]);
  });

  test('by token_id finds creation, reads, changes, refusals, deletion and every disclosure through a Proxy', async () => {
    const { tenant_id, idsOf, insert } = await createScene();
    const { db } = api.current;
    const token = { ...use, entity_type: 'token', entity_id: 'card', message: null };
    const refusedTwice = ['until', 'hosts'].map((member) => ({ token_id: 'card', member }));
    const ids = [
      await insert({ ...token, operation: 'create' }),
      await insert({ ...token, operation: 'create', entity_id: 'a', detail: { token_ids: ['a', 'card'] } }),
      await insert({ ...token, operation: 'read', detail: { token_ids: ['card'] } }),
      await insert({ ...token, operation: 'token.updated', actor_type: null, detail: { members: ['data'] } }),
      await insert({ ...use, detail: { token_ids: ['b', 'card'] } }),
      await insert({ ...use, detail: { token_ids: [], refused: [{ token_id: 'card', member: 'until' }] } }),
      await insert({ ...use, detail: { token_ids: ['card', 'card'], refused: refusedTwice } }),
    ];
    const change = { operation: 'delete', entityType: 'token', entityId: 'card' } as const;
    await recordChange(db, systemAct(tenant_id), change);
    const found = await idsOf('?token_id=card');
    expect(found).toHaveLength(8);
    expect(found).toEqual(expect.arrayContaining(ids));
    expect(await idsOf('?token_id=c')).toEqual([]);
  });

  test('serves the rows of former versions in the form of today, and finds them by it', async () => {
    const { insert, list, application_id } = await createScene();
    const before = { actor_type: null, message: null, at: '2025-01-01T00:00:00.000Z' };
    await insert({
      ...use,
      ...before,
      actor_id: application_id,
      operation: 'proxy.invoked',
      detail: { token_ids: ['t'] },
    });
    await insert({ ...use, ...before, entity_type: 'token', operation: 'token.expired' });
    expect((await list('?operation=use')).data).toMatchObject([
      { actor_type: 'application', operation: 'use', message: 'Proxy used', detail: { token_ids: ['t'] } },
    ]);
    expect((await list('?operation=expire&entity_type=token')).data).toMatchObject([
      { actor_type: 'system', operation: 'expire', message: 'Token expired' },
    ]);
  });

  test('no longer shows rows that retention gave up, also while their month waits to be dropped', async () => {
    const { tenant_id, insert, list } = await createScene();
    const { db } = api.current;
    const detail = { token_ids: ['t'] };
    for (let i = 0; i < 20; i++) await insert({ ...use, at: `2026-01-01T00:00:${10 + i}.000Z`, detail });
    await sequenceLog(db, tenant_id);
    const filters = ['', '?operation=use', '?token_id=t', '?entity_id=p'];
    const counts = async () => {
      const pages = await Promise.all(filters.map((filter) => list(filter)));
      return pages.map(({ pagination, data }) => [pagination.total_items, data.length]);
    };
    expect(await counts()).toEqual([
      [21, 20],
      [20, 20],
      [20, 20],
      [20, 20],
    ]);
    await db.updateTable('ledgers').set({ dropped: 16 }).where('tenant_id', '=', tenant_id).execute();
    expect(await counts()).toEqual([
      [5, 5],
      [4, 4],
      [4, 4],
      [4, 4],
    ]);
    await insert({ ...use, at: '2026-01-01T00:00:00.000Z', detail }); // late, and not yet sequenced
    expect(await counts()).toEqual([
      [6, 6],
      [5, 5],
      [5, 5],
      [5, 5],
    ]);
  });

  test('goes on by cursor, each row once, while new ones come', async () => {
    const { insert, list } = await createScene();
    const at = '2026-01-01T00:00:00.000Z'; // the same for all
    const ids = await Promise.all(
      Array.from({ length: 7 }, () => insert({ ...use, at, detail: { token_ids: ['t'] } })),
    );
    for (const filter of ['entity_type=proxy', 'token_id=t', 'entity_id=p']) {
      const found: string[] = [];
      let page = await list(`?${filter}&size=3`);
      expect(page.pagination).toMatchObject({ page_size: 3, total_pages: expect.any(Number) });
      for (;;) {
        found.push(...page.data.map(({ id }: { id: string }) => id));
        if (!page.pagination.next) break;
        await insert({ ...use, detail: { token_ids: ['t'] } });
        page = await list(`?${filter}&size=3&start=${page.pagination.next}`);
        expect(page.pagination).not.toHaveProperty('total_items');
      }
      expect(found.filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
      expect(new Set(found).size).toBe(found.length);
    }
  });

  test('refuses a cursor that it did not write for this Tenant and these filters', async () => {
    const { send, stranger } = api.current;
    const { insert, list, key } = await createScene();
    for (let i = 0; i < 3; i++) await insert(use);
    const { next } = (await list('?size=1')).pagination;
    const status = async (query: string, as = key) => (await send('GET', `/logs?${query}`, { key: as })).status;
    expect(await status(`size=1&start=${next}`)).toBe(200);
    expect(await status(`size=1&start=${next}&operation=use`)).toBe(400);
    expect(await status(`size=1&start=${next}`, stranger.management_key)).toBe(400);
    expect(await status(`start=${next.slice(0, -2)}AA`)).toBe(400);
    expect(await status('start=x')).toBe(400);
  });

  test('counts up to 10,000 rows of a filter, and says when there are more; without one it counts exactly', async () => {
    const { tenant_id, list } = await createScene();
    await sql`
      insert into audit_log (tenant_id, operation, entity_type, entity_id) select ${tenant_id}, 'use', 'proxy', 'p' from generate_series(1, 10001)
    `.execute(api.current.db);
    const lower = { total_items: 10_000, total_is_lower_bound: true, total_pages: 500 };
    expect((await list('?operation=use')).pagination).toMatchObject(lower);
    expect((await list('?entity_type=proxy&entity_id=p')).pagination).toMatchObject(lower);
    const { pagination } = await list();
    expect(pagination).toMatchObject({ total_items: 10_002 });
    expect(pagination).not.toHaveProperty('total_is_lower_bound');
    expect((await list('?page=501')).data).toHaveLength(2);
  });

  test('another Tenant sees none of it', async () => {
    const { send, stranger } = api.current;
    const { insert } = await createScene();
    const id = await insert({
      ...use,
      entity_id: 'secret',
      trace_id: 'theirs',
      detail: { token_ids: ['their-token'] },
    });
    for (const query of ['', '?entity_id=secret', '?trace_id=theirs', '?token_id=their-token', '?operation=use']) {
      const { body } = await send('GET', `/logs${query}`, { key: stranger.management_key });
      expect(JSON.stringify(body)).not.toContain(id);
    }
  });

  test.each(['entity_type=card', 'operation=token.read', 'actor_id=x', 'start_date=soon', 'size=101', 'page=0'])(
    '%s is 400 and says where',
    async (query) => {
      const { status, body } = await api.current.send('GET', `/logs?${query}`);
      expect([status, Object.keys(body.errors)]).toEqual([400, [query.split('=')[0]]]);
    },
  );

  test('needs log:read', async () => {
    const { send, keyWith } = api.current;
    const key = await keyWith('tenant:read');
    for (const path of ['/logs', '/logs/entity-types']) {
      expect([(await send('GET', path, { key })).status, (await send('GET', path, { key: 'x' })).status]).toEqual([
        403, 401,
      ]);
    }
  });
});

test('GET /logs/entity-types names every type', async () => {
  const { body } = await api.current.send('GET', '/logs/entity-types');
  expect(body).toEqual(expect.arrayContaining([{ display_name: 'Proxy', value: 'proxy' }]));
});
