import { randomUUID } from 'node:crypto';
import { readVerifierLine, verifyCheckpoint, verifyExport } from '@sluice/ledger';
import { countRowsRead, recordStatements, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceLog } from '../testing/sequence-log.ts';
import { startTestManagement } from '../testing/test-management.ts';
import type { LogFilter } from './log.queries.ts';
import { exportLog } from './log-export.ts';

const api = useStack((stack) => startTestManagement(stack));

async function createScene(count: number) {
  const { db, anotherTenant, url } = api.current;
  const { management_key: key, tenant_id } = await anotherTenant('T');
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, actor_type, message, trace_id, detail)
    select ${tenant_id}, timestamptz '2026-01-01' + i * interval '1 second', case when i % 2 = 0 then 'use' else 'update' end,
      'proxy', 'p', 'system', 'Proxy used', 'trace-' || i, jsonb_build_object('token_ids', array[${tenant_id} || i % 3])
    from generate_series(1, ${count}::int - 1) i
  `.execute(db);
  const ledger = await sequenceLog(db, tenant_id);
  const get = async (query = '', headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/logs/export${query}`, { headers: { 'SVC-API-KEY': key, ...headers } });
    const text = await response.text().catch((cause: unknown) => {
      throw new Error(`The export broke off: ${api.current.logLines.slice(-3).join('')}`, { cause });
    });
    return { status: response.status, headers: response.headers, text };
  };
  const rows = async (query = '') => linesOf((await get(query)).text).map((line) => JSON.parse(line));
  return { key, tenant_id, ledger, get, rows };
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

const verify = async (text: string, { checkpoint, keyFile }: { checkpoint: string; keyFile: string }, stated = {}) =>
  verifyExport(linesOf(text), {
    checkpoint: { ...verifyCheckpoint(checkpoint, [readVerifierLine(keyFile)]), ...stated },
  });

test('a whole export is every sequenced row in the order of the ledger, and verifies under its checkpoint', async () => {
  const { get, tenant_id, ledger } = await createScene(2345);
  await sql`insert into audit_log (tenant_id, operation, entity_type, entity_id) values (${tenant_id}, 'use', 'proxy', 'later')`.execute(
    api.current.db,
  );
  const { status, headers, text } = await get();
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  const rows = linesOf(text).map((line) => JSON.parse(line));
  expect(rows.map(({ leaf_index }) => leaf_index)).toEqual(rows.map((_, i) => i));
  expect(await verify(text, ledger)).toEqual({ isWhole: true, size: 2345, dropped: 0, beyond: 0, unchecked: 0 });
  expect(rows[7]).toMatchObject({ tenant_id, leaf_version: 1, leaf_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('it has the members of GET /logs, for rows of former versions too', async () => {
  const { anotherTenant, db, send } = api.current;
  const { management_key: key, tenant_id } = await anotherTenant('T');
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, detail) values
      (${tenant_id}, '2025-01-01', 'proxy.invoked', 'proxy', 'p', null),
      (${tenant_id}, '2025-01-02', 'token.read', 'token', 'é"\\', '{"a": [1e30, 0.1, "\\u2028"], "ß": null}'),
      (${tenant_id}, '2025-01-03', 'token.read', 'token', 'numbers', '[-0, -0.0, 0e5, 0.00000000000000000000, 1.50, 4E-20, 5e-324, 1.5e308]')
  `.execute(db);
  const ledger = await sequenceLog(db, tenant_id);
  const response = await fetch(`${api.current.url}/logs/export`, { headers: { 'SVC-API-KEY': key } });
  const text = await response.text();
  const rows = linesOf(text).map((line) => {
    const { leaf_version: _, leaf_index: __, leaf_hash: ___, ...log } = JSON.parse(line);
    return log;
  });
  expect(rows).toEqual((await send('GET', '/logs', { key })).body.data.reverse());
  expect(await verify(text, ledger)).toMatchObject({ isWhole: true });
});

test('goes on after any row by start, and past the end there is nothing', async () => {
  const { get } = await createScene(1501);
  const lines = linesOf((await get()).text);
  for (const start of [0, 1, 999, 1000, 1500]) {
    expect([start, linesOf((await get(`?start=${start}`)).text)]).toEqual([start, lines.slice(start)]);
  }
  expect((await get('?start=1501')).text).toBe('');
});

slow('2.3 s')(
  'filters as GET /logs does, few rows by the filter and many on the way through all, both in leaf order',
  async () => {
    const { rows, tenant_id } = await createScene(12_003);
    const all = await rows();
    const token = `${tenant_id}1`;
    const filters: [string, (row: (typeof all)[number]) => boolean][] = [
      ['trace_id=trace-77', (row) => row.trace_id === 'trace-77'],
      ['entity_type=tenant', (row) => row.entity_type === 'tenant'],
      ['operation=use&entity_type=proxy', (row) => row.operation === 'use' && row.entity_type === 'proxy'],
      [`token_id=${token}`, (row) => row.detail?.token_ids?.includes(token)],
      ['entity_id=p', (row) => row.entity_id === 'p'], // matches more than 10,000 rows, as do the following
      [`start_date=2026-01-01T00:01:00Z`, (row) => row.created_at >= '2026-01-01T00:01:00'],
      ['end_date=2026-01-01T03:00:00Z', (row) => row.created_at < '2026-01-01T03:00:00'],
    ];
    for (const [query, matches] of filters) {
      const found = await rows(`?${query}`);
      expect([query, found]).toEqual([query, all.filter(matches)]);
      const half = found[found.length >> 1].leaf_index;
      expect((await rows(`?${query}&start=${half}`))[0]).toMatchObject({ leaf_index: half });
    }
    const tenants = all.filter((row) => row.entity_id === tenant_id);
    expect(tenants).not.toEqual([]);
    expect(await rows(`?entity_id=${tenant_id.toUpperCase()}`)).toEqual(tenants);
    const both = await rows(`?entity_id=p&token_id=${token}&start_date=2026-01-01T00:01:00Z`);
    expect(both).toEqual(
      all.filter((row) => row.detail?.token_ids?.includes(token) && row.created_at >= '2026-01-01T00:01'),
    );
  },
);

test('rows with much in them come in smaller pieces, and none is lost', async () => {
  const { anotherTenant, db, url } = api.current;
  const { management_key: key, tenant_id } = await anotherTenant('T');
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id, detail)
    select ${tenant_id}, 'create', 'token', 'x', jsonb_build_object('many', (select jsonb_agg(gen_random_uuid()) from generate_series(1, 500 + i)))
    from generate_series(1, 120) i
  `.execute(db);
  const ledger = await sequenceLog(db, tenant_id);
  for (const query of ['', '?entity_type=token']) {
    const text = await (await fetch(`${url}/logs/export${query}`, { headers: { 'SVC-API-KEY': key } })).text();
    expect(linesOf(text)).toHaveLength(query ? 120 : 121);
    if (!query) expect(await verify(text, ledger)).toMatchObject({ isWhole: true, size: 121 });
  }
});

describe('where Postgres stores details as a fortieth of their text', () => {
  const similar = useStack(async () => {
    const { db, anotherTenant } = api.current;
    const { tenant_id } = await anotherTenant('T');
    await sql`
      insert into audit_log (tenant_id, operation, entity_type, entity_id, detail)
      select ${tenant_id}, 'use', 'proxy', 'x', jsonb_build_object('token_ids', array(
        select repeat('x', 390) || n || '-' || i from generate_series(1, 100) i))
      from generate_series(101, 200) n
    `.execute(db);
    await sequenceLog(db, tenant_id);
    // Postgres may have counted the rows while they were written, and would then plan for other numbers
    await sql`analyze audit_log, ledger_leaves, ledgers`.execute(db);
    return { tenantId: tenant_id, start: 0, format: 'ndjson' } as const;
  });

  async function piecesOf(filter: LogFilter, db = api.current.db): Promise<string[]> {
    const pieces: string[] = [];
    for await (const piece of exportLog(db, { ...similar.current, filter })) pieces.push(piece);
    return pieces;
  }

  test.each<[string, LogFilter]>([
    ['all rows', {}],
    ['few rows that a filter finds', { entity_id: 'x' }],
  ])('a piece of %s has 256 KiB of their text and no more than a row beyond', async (_, filter) => {
    const pieces = await piecesOf(filter);
    const lines = pieces.flatMap(linesOf).map((line) => JSON.parse(line));
    const indexes = lines.map(({ leaf_index }) => leaf_index);
    expect(indexes).toEqual([...new Set(indexes)].sort((a, b) => a - b));
    expect(lines.filter(({ entity_id }) => entity_id === 'x')).toHaveLength(100);
    const oneRow = 45_000;
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(256 * 1024 + oneRow);
  });

  test('Postgres reads each row a few times, not once for each piece before it', async () => {
    const { db, statements } = recordStatements(api.current.db);
    const pieces = await piecesOf({}, db);
    expect(pieces.length).toBeGreaterThan(12);
    const read = (await countRowsRead(api.current.db, statements)).reduce((sum, rows) => sum + rows, 0);
    expect(read).toBeLessThan(8 * 100); // of the log and of the ledger; 1,500 if each piece looked at all that follow
  });
});

test('small rows before and after large ones come once and in order', async () => {
  const { db, anotherTenant, url } = api.current;
  const { management_key: key, tenant_id } = await anotherTenant('T');
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, detail)
    select ${tenant_id}, now() + n * interval '1 ms', 'use', 'proxy', n::text,
      case when n between 1200 and 1300 then jsonb_build_object('random', array(
        select gen_random_uuid() from generate_series(1, 200) where n = n)) end
    from generate_series(0, 4999) as n
  `.execute(db);
  await sql`delete from audit_log where tenant_id = ${tenant_id} and operation <> 'use'`.execute(db);
  await sequenceLog(db, tenant_id);
  const response = await fetch(`${url}/logs/export`, { headers: { 'SVC-API-KEY': key } });
  const rows = linesOf(await response.text()).map((line) => JSON.parse(line));
  expect(rows.map(({ entity_id }) => entity_id)).toEqual(rows.map((_, i) => String(i)));
  expect(rows).toHaveLength(5000);
});

describe('as CSV', () => {
  test('a column for each member, detail as JSON, and what a spreadsheet would run is text', async () => {
    const { anotherTenant, db, url } = api.current;
    const { management_key: key, tenant_id } = await anotherTenant('T');
    const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1', 'a"b,c\r\nd', '"=1"', 'plain'];
    for (const entity_id of hostile) {
      await sql`insert into audit_log (tenant_id, operation, entity_type, entity_id, detail) values (${tenant_id}, 'use', 'proxy', ${entity_id}, '{"a": "x,\\"y"}')`.execute(
        db,
      );
    }
    await sequenceLog(db, tenant_id);
    const response = await fetch(`${url}/logs/export?entity_type=proxy`, {
      headers: { 'SVC-API-KEY': key, Accept: 'text/html;q=0.9, text/csv' },
    });
    expect([response.headers.get('content-type'), response.headers.get('vary')]).toEqual([
      'text/csv; charset=utf-8',
      'Accept',
    ]);
    const [header, ...records] = parseCsv(await response.text());
    expect(header?.join()).toBe(
      'id,tenant_id,created_at,actor_id,actor_type,entity_type,entity_id,operation,message,trace_id,detail,leaf_version,leaf_index,leaf_hash',
    );
    const column = (name: string) => records.map((cells) => cells[header?.indexOf(name) ?? -1]);
    const escaped = hostile.map((text, i) => (i < 8 ? `'${text}` : text));
    expect(column('entity_id').sort()).toEqual([...escaped].sort());
    expect(JSON.parse(column('detail')[0] ?? '')).toEqual({ a: 'x,"y' });
    expect(column('actor_id')).toEqual(hostile.map(() => ''));
  });
});

/** Strict as RFC 4180. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const [, quoted, plain = '', end] = cell.exec(text) ?? [];
    if (end === undefined) throw new Error(`No RFC 4180 at ${at}: ${text.slice(at, at + 40)}`);
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') records.push([]);
  }
  records.pop();
  return records;
}

test('where retention dropped rows, a whole export in NDJSON begins with their subtrees, and no other does', async () => {
  const { get, tenant_id, ledger } = await createScene(200);
  await api.current.db.updateTable('ledgers').set({ dropped: 37 }).where('tenant_id', '=', tenant_id).execute();
  const { text } = await get();
  const [head = '', first = ''] = linesOf(text);
  expect(JSON.parse(head)).toEqual({
    dropped: 37,
    hashes: [expect.any(String), expect.any(String), expect.any(String)],
  });
  expect(JSON.parse(first)).toMatchObject({ leaf_index: 37 });
  expect(await verify(text, ledger, { dropped: 37 })).toMatchObject({ isWhole: true, size: 200, dropped: 37 });
  expect(await verify(text, ledger)).toMatchObject({
    reason: expect.stringContaining('the first 37 rows of the ledger, but the newest checkpoint says 0'),
  });
  for (const query of ['?start=1', '?operation=use']) expect((await get(query)).text).not.toContain('dropped');
  expect((await get('', { Accept: 'text/csv' })).text).not.toContain('dropped');
});

test('a row that somebody removed from the log is missing in the export, which the verifier says', async () => {
  const { get, tenant_id, ledger, rows } = await createScene(100);
  const { id } = (await rows())[41];
  await api.current.db.deleteFrom('audit_log').where('tenant_id', '=', tenant_id).where('id', '=', id).execute();
  expect(await verify((await get()).text, ledger)).toMatchObject({
    reason: expect.stringContaining('Row 41 is missing'),
  });
});

test('HEAD answers headers alone, and a Tenant without a ledger has an empty export', async () => {
  const { key } = await createScene(3);
  const { url, keyWith } = api.current;
  const head = await fetch(`${url}/logs/export`, {
    method: 'HEAD',
    headers: { 'SVC-API-KEY': key, Accept: 'text/csv' },
  });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
    200,
    'text/csv; charset=utf-8',
    '',
  ]);
  const own = await fetch(`${url}/logs/export`, { headers: { 'SVC-API-KEY': await keyWith('log:read') } });
  expect([own.status, await own.text()]).toEqual([200, '']);
});

test('another Tenant sees none of it, whatever it asks for', async () => {
  const theirs = await createScene(50);
  const mine = await createScene(5);
  const id = (await theirs.rows())[7].id;
  for (const query of [
    '',
    '?entity_id=p',
    '?trace_id=trace-7',
    `?token_id=${theirs.tenant_id}1`,
    '?start=3',
    '?operation=use',
  ]) {
    expect([query, (await mine.get(query)).text.includes(theirs.tenant_id)]).toEqual([query, false]);
    expect((await theirs.get(query)).text).toContain(theirs.tenant_id);
  }
  expect((await mine.get()).text).not.toContain(id);
});

test.each(['start=-1', 'start=x', 'start=1e3', 'entity_type=card', 'start_date=soon', `actor_id=${'x'.repeat(9)}`])(
  '%s is 400 and says where',
  async (query) => {
    const { status, body } = await api.current.send('GET', `/logs/export?${query}`);
    expect([status, Object.keys(body.errors)]).toEqual([400, [query.split('=')[0]]]);
  },
);

test('needs log:read, and a key', async () => {
  const key = await api.current.keyWith('tenant:read');
  for (const method of ['GET', 'HEAD']) {
    expect((await api.current.send(method, '/logs/export', { key })).status).toBe(403);
    expect((await api.current.send(method, '/logs/export', { key: `x${randomUUID()}` })).status).toBe(401);
  }
});
