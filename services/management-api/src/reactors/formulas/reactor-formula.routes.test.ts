import { randomUUID } from 'node:crypto';
import { slow, useStack } from '@sluice/testing';
import { isoDate, shareTestManagement, uuidText } from '../../testing/test-management.ts';

const api = useStack(() => shareTestManagement());
const code = 'module.exports = async (req) => ({ raw: req.args })';
const minimal = { name: 'F', code };
const full = {
  type: 'private',
  name: 'F',
  description: 'Looks up a BIN',
  icon: 'data:image/png;base64,AAAA',
  code,
  configuration: [{ name: 'KEY', description: 'Of the service', type: 'string' }],
  request_parameters: [
    { name: 'number', type: 'string', optional: false },
    { name: 'amount', description: 'In cents', type: 'number', optional: true },
  ],
};
const post = (body: unknown) => api.current.send('POST', '/reactor-formulas', { body });
const put = (id: string, body: unknown) => api.current.send('PUT', `/reactor-formulas/${id}`, { body });
const get = (id: string) => api.current.send('GET', `/reactor-formulas/${id}`);

describe('create', () => {
  test('answers 201 with the whole formula and its Location; lists are empty where nothing is declared', async () => {
    const { tenant } = api.current;
    const { status, headers, body } = await post(minimal);
    expect([status, headers.get('location')]).toEqual([201, `/reactor-formulas/${body.id}`]);
    expect(body).toEqual({
      id: uuidText,
      tenant_id: tenant.tenant_id,
      type: 'private',
      ...minimal,
      configuration: [],
      request_parameters: [],
      created_by: tenant.application_id,
      created_at: isoDate,
    });
  });

  test('echoes every member as it was sent, and get answers the same', async () => {
    const { body } = await post(full);
    expect(body).toMatchObject(full);
    expect(await get(body.id)).toMatchObject({ status: 200, body });
  });

  test.each([
    [{ code }, 'name'],
    [{ name: 'F' }, 'code'],
    [{ ...minimal, name: 'x'.repeat(201) }, 'name'],
    [{ ...minimal, type: 'official' }, 'type'],
    [{ ...minimal, description: 'x'.repeat(1001) }, 'description'],
    [{ ...minimal, icon: 'x'.repeat(50_001) }, 'icon'],
    [{ ...minimal, code: `// ${'x'.repeat(256 * 1024)}` }, 'code'],
    [{ ...minimal, configuration: [{ name: 'a' }] }, 'configuration[0].type'],
    [{ ...minimal, configuration: [{ name: 'a', type: 'date' }] }, 'configuration[0].type'],
    [{ ...minimal, configuration: [{ name: 'a', type: 'string', optional: true }] }, 'configuration[0].optional'],
    [{ ...minimal, request_parameters: [{ name: '', type: 'string' }] }, 'request_parameters[0].name'],
    [
      { ...minimal, request_parameters: ['string', 'number'].map((type) => ({ name: 'a', type })) },
      'request_parameters[1].name',
    ],
    [{ ...minimal, reqest_parameters: [] }, 'reqest_parameters'],
  ])('400 says what is wrong: %#', async (body, path) => {
    const answer = await post(body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [path]]);
  });

  test('422 for code that does not compile, with its line and column', async () => {
    const { status, body } = await post({ ...minimal, code: 'const a = 1;\nconst = 2;' });
    expect([status, body.title]).toEqual([422, 'Code does not compile']);
    expect(body.errors.code).toEqual([expect.stringMatching(/line 2, column \d+/)]);
  });

  test('an idempotency key makes one', async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const ask = () => api.current.send('POST', '/reactor-formulas', { body: full, headers });
    const [first, second] = [await ask(), await ask()];
    expect(first.status).toBe(201);
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});

describe('list', () => {
  test('newest first, by id and name, in pages', async () => {
    const { anotherTenant, formula, send } = api.current;
    const { management_key: key } = await anotherTenant('list');
    const ids: string[] = [];
    for (const name of ['BIN lookup', '3DS', 'bin_2']) ids.push((await formula({ name }, { key })).id);
    const names = async (query: string) => {
      const { body } = await send('GET', `/reactor-formulas${query}`, { key });
      return [body.pagination.total_items, body.data.map(({ name }: { name: string }) => name)];
    };
    expect(await names('')).toEqual([3, ['bin_2', '3DS', 'BIN lookup']]);
    expect(await names('?name=bin')).toEqual([2, ['bin_2', 'BIN lookup']]);
    expect(await names('?name=bin_')).toEqual([1, ['bin_2']]);
    expect(await names(`?id=${ids[1]},${ids[2]}`)).toEqual([2, ['bin_2', '3DS']]);
    expect(await names(`?id=${ids[1]}&name=bin`)).toEqual([0, []]);
    expect(await names('?name=*ds')).toEqual([1, ['3DS']]);
    expect(await names('?name=*')).toEqual([3, ['bin_2', '3DS', 'BIN lookup']]);
    expect(await names('?size=1&page=2')).toEqual([3, ['3DS']]);
    expect(await names('?page=9')).toEqual([3, []]);
  });

  slow('2.9 s')('413 for a page of more than 8 MiB', async () => {
    const { anotherTenant, formula, send } = api.current;
    const { management_key: key } = await anotherTenant('large');
    const large = `${code} // ${'x'.repeat(255 * 1024)}`;
    for (let i = 0; i < 34; i++) await formula({ code: large }, { key });
    expect((await send('GET', '/reactor-formulas?size=40', { key })).status).toBe(413);
    expect((await send('GET', '/reactor-formulas?size=20', { key })).status).toBe(200);
  });
});

describe('update', () => {
  test('200 replaces all; what is left out is unset', async () => {
    const { tenant } = api.current;
    const { body: made } = await post(full);
    const { status, body } = await put(made.id, { ...minimal, name: 'G' });
    const { description: _d, icon: _i, ...kept } = made;
    const changed = { name: 'G', configuration: [], request_parameters: [] };
    const modified = { modified_by: tenant.application_id, modified_at: isoDate };
    expect([status, body]).toEqual([200, { ...kept, ...changed, ...modified }]);
    expect((await get(made.id)).body).toEqual(body);
  });

  test('what get answers may be sent back', async () => {
    const { body: made } = await post(full);
    expect(await put(made.id, made)).toMatchObject({ status: 200, body: full });
  });

  test('400 comes before 404, and 404 before 422', async () => {
    const id = randomUUID();
    expect((await put(id, { name: 'F' })).status).toBe(400);
    expect((await put(id, { ...minimal, code: '(' })).status).toBe(404);
    const { body: made } = await post(full);
    expect((await put(made.id, { ...minimal, code: '(' })).status).toBe(422);
    expect((await get(made.id)).body).toEqual(made);
  });
});

describe('delete', () => {
  test('204 once; the total counts it no longer', async () => {
    const { anotherTenant, formula, send } = api.current;
    const { management_key: key } = await anotherTenant('delete');
    const { id } = await formula({}, { key });
    expect((await send('DELETE', `/reactor-formulas/${id}`, { key })).status).toBe(204);
    expect((await send('DELETE', `/reactor-formulas/${id}`, { key })).status).toBe(404);
    expect((await send('GET', '/reactor-formulas', { key })).body.pagination.total_items).toBe(0);
  });

  test('409 while a reactor uses it', async () => {
    const { formula, reactor, send } = api.current;
    const { id } = await formula();
    const { id: reactorId } = await reactor({ formula: { id } });
    const refused = await send('DELETE', `/reactor-formulas/${id}`);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Reactors use this formula')]);
    expect((await get(id)).status).toBe(200);
    expect((await send('DELETE', `/reactors/${reactorId}`)).status).toBe(204);
    expect((await send('DELETE', `/reactor-formulas/${id}`)).status).toBe(204);
  });
});
