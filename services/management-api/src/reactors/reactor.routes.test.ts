import { randomUUID } from 'node:crypto';
import { type Role, roles } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { shareTestConsole } from '../testing/test-console.ts';
import { isoDate, uuidText } from '../testing/test-management.ts';

const api = useStack(() => shareTestConsole());
const code = 'module.exports = async (req) => ({ raw: req.args })';
const minimal = { name: 'R', code };
const configuration = { KEY: 'value-of-configuration', COUNT: 3, LIVE: true };
const declared = [
  { name: 'KEY', type: 'string' },
  { name: 'COUNT', type: 'number' },
  { name: 'LIVE', type: 'boolean' },
];
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const post = (body: unknown) => api.current.send('POST', '/reactors', { body });
const put = (id: string, body: unknown) => api.current.send('PUT', `/reactors/${id}`, { body });
const patch = (id: string, body: unknown, headers: Record<string, string> = mergePatch) =>
  api.current.send('PATCH', `/reactors/${id}`, { body, headers });
const get = async (id: string) => (await api.current.send('GET', `/reactors/${id}`)).body;

/** [status, paths of errors] */
async function refusal(answer: ReturnType<typeof post>): Promise<[number, string[]]> {
  const { status, body } = await answer;
  return [status, Object.keys(body.errors ?? {})];
}

describe('create', () => {
  test('answers 201 with the whole reactor and its Location; unset members are left out', async () => {
    const { tenant } = api.current;
    const { status, headers, body } = await post(minimal);
    expect([status, headers.get('location')]).toEqual([201, `/reactors/${body.id}`]);
    expect(body).toEqual({
      id: uuidText,
      tenant_id: tenant.tenant_id,
      ...minimal,
      retryable: false,
      created_by: tenant.application_id,
      created_at: isoDate,
    });
  });

  test('formula and Application come back as formula_id and application_id', async () => {
    const { application, formula } = api.current;
    const [named, { id: formulaId }] = [await application(), await formula({ configuration: declared })];
    const references = { formula: { id: formulaId }, application: { id: named.id } };
    const { status, body } = await post({ name: 'R', ...references, configuration, retryable: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({ formula_id: formulaId, application_id: named.id, configuration, retryable: true });
    for (const member of ['code', 'formula', 'application']) expect(body).not.toHaveProperty(member);
    expect(await get(body.id)).toEqual(body);
  });

  test('what the formula declares is cast, and the rest passes as it is', async () => {
    const { id } = await api.current.formula({ configuration: declared });
    const sent = { KEY: 5, COUNT: '12', LIVE: 'false', other: '1' };
    const { body } = await post({ name: 'R', formula: { id }, configuration: sent });
    expect(body.configuration).toEqual({ KEY: '5', COUNT: 12, LIVE: false, other: '1' });
    expect(await get(body.id)).toEqual(body);
  });

  test('400 for configuration that is missing or does not fit, which names no value', async () => {
    const { id } = await api.current.formula({ configuration: declared });
    const ask = (sent?: object) => post({ name: 'R', formula: { id }, ...(sent && { configuration: sent }) });
    expect(await refusal(ask())).toEqual([400, ['configuration.KEY', 'configuration.COUNT', 'configuration.LIVE']]);
    const { status, body } = await ask({ KEY: 'k', COUNT: 'secret-text', LIVE: null });
    expect([status, body.errors]).toEqual([400, { 'configuration.LIVE': [expect.any(String)] }]);
    const cast = await ask({ KEY: 'k', COUNT: 'secret-text', LIVE: 1 });
    expect(cast.body.errors).toEqual({
      'configuration.COUNT': ['must be a number'],
      'configuration.LIVE': ['must be a boolean'],
    });
    expect(JSON.stringify(cast.body)).not.toContain('secret-text');
  });

  test.each([
    [{ code }, 'name'],
    [{ name: 'x'.repeat(201), code }, 'name'],
    [{ name: 'R' }, 'code'],
    [{ ...minimal, formula: { id: randomUUID() } }, 'code'],
    [{ name: 'R', formula: { id: randomUUID() } }, 'formula.id'],
    [{ name: 'R', formula: { id: 'x' } }, 'formula.id'],
    [{ ...minimal, application: { id: randomUUID() } }, 'application.id'],
    [{ ...minimal, configuration: { a: {} } }, 'configuration.a'],
    [{ ...minimal, configuration: { a: 'x'.repeat(50_001) } }, 'configuration.a'],
    [{ ...minimal, configuration: { a: 'x'.repeat(40_000), b: 'x'.repeat(30_000) } }, 'configuration'],
    [{ ...minimal, configuration: { a: '[hidden]' } }, 'configuration.a'],
    [{ ...minimal, code: `// ${'x'.repeat(256 * 1024)}` }, 'code'],
    [{ ...minimal, retryable: 'yes' }, 'retryable'],
    [{ ...minimal, configuraton: {} }, 'configuraton'],
  ])('400 says what is wrong: %#', async (body, path) => {
    expect(await refusal(post(body))).toEqual([400, [path]]);
  });

  test('400 for an Application of type management, and for one of another Tenant', async () => {
    const { application, formula, stranger } = api.current;
    const key = { key: stranger.management_key };
    const management = await application({ type: 'management', permissions: ['proxy:read'] });
    for (const { id } of [management, await application({}, key)]) {
      expect(await refusal(post({ ...minimal, application: { id } }))).toEqual([400, ['application.id']]);
    }
    const { id } = await formula({}, key);
    expect(await refusal(post({ name: 'R', formula: { id } }))).toEqual([400, ['formula.id']]);
  });

  test('422 for code that does not compile, with its line and column', async () => {
    const { status, body } = await post({ name: 'R', code: 'const a = 1;\nconst = 2;' });
    expect([status, body.errors.code]).toEqual([422, [expect.stringMatching(/line 2, column \d+/)]]);
  });
});

describe('list', () => {
  test('newest first, by id and name, in pages', async () => {
    const { anotherTenant, reactor, send } = api.current;
    const { management_key: key } = await anotherTenant('list');
    const made = [];
    for (const name of ['BIN lookup', '3DS', 'bin_2']) made.push((await reactor({ name }, { key })).id);
    const names = async (query: string) => {
      const { body } = await send('GET', `/reactors${query}`, { key });
      return [body.pagination.total_items, body.data.map(({ name }: { name: string }) => name)];
    };
    expect(await names('')).toEqual([3, ['bin_2', '3DS', 'BIN lookup']]);
    expect(await names('?name=bin')).toEqual([2, ['bin_2', 'BIN lookup']]);
    expect(await names(`?id=${made[0]}&id=${made[1]}`)).toEqual([2, ['3DS', 'BIN lookup']]);
    expect(await names(`?id=${made[0]},${randomUUID()}&name=3`)).toEqual([0, []]);
    expect(await names('?size=1&page=2')).toEqual([3, ['3DS']]);
  });

  test('those that run one formula', async () => {
    const { anotherTenant, formula, reactor, send } = api.current;
    const { management_key: key } = await anotherTenant('list by formula');
    const [one, other] = [await formula({}, { key }), await formula({}, { key })];
    const ids: string[] = [];
    for (const { id } of [one, other, one]) ids.push((await reactor({ formula: { id } }, { key })).id);
    await reactor({}, { key });
    const found = async (query: string) => {
      const { body } = await send('GET', `/reactors?formula_id=${query}`, { key });
      return [body.pagination.total_items, body.data.map(({ id }: { id: string }) => id)];
    };
    expect(await found(one.id)).toEqual([2, [ids[2], ids[0]]]);
    expect(await found(`${one.id}&id=${ids[0]}`)).toEqual([1, [ids[0]]]);
    expect(await found(randomUUID())).toEqual([0, []]);
    expect((await send('GET', '/reactors?formula_id=x', { key })).status).toBe(400);
  });
});

describe('update', () => {
  test('200 replaces all; a body without code and formula keeps what it runs', async () => {
    const { tenant, application } = api.current;
    const { id } = await application();
    const { body: made } = await post({ ...minimal, application: { id }, configuration, retryable: true });
    const { status, body } = await put(made.id, { name: 'S', configuration: { KEY: 'new' } });
    const { application_id: _, ...kept } = made;
    const modified = { modified_by: tenant.application_id, modified_at: isoDate };
    expect(status).toBe(200);
    expect(body).toEqual({ ...kept, name: 'S', configuration: { KEY: 'new' }, retryable: false, ...modified });
    expect(await get(made.id)).toEqual(body);
  });

  test('what get answers may be sent back, of either kind', async () => {
    const { application, formula } = api.current;
    const references = { application: { id: (await application()).id }, formula: { id: (await formula()).id } };
    const { formula: _, ...own } = references;
    for (const body of [
      { ...minimal, ...own, configuration },
      { name: 'R', ...references, configuration },
    ]) {
      const { body: made } = await post(body);
      const { modified_by: _by, modified_at: _at, ...same } = (await put(made.id, made)).body;
      expect(same).toEqual(made);
    }
  });

  test('code may take the place of a formula, and the other way round', async () => {
    const { id } = await api.current.formula();
    const { body: made } = await post(minimal);
    const { code: _, ...rest } = made;
    const withFormula = await put(made.id, { name: 'R', formula: { id } });
    expect(withFormula).toMatchObject({ status: 200, body: { ...rest, formula_id: id } });
    expect(withFormula.body).not.toHaveProperty('code');
    expect((await put(made.id, { ...withFormula.body, code })).body).toMatchObject({ code });
    expect(await get(made.id)).not.toHaveProperty('formula_id');
  });

  test('400 comes before 404, and 404 before 422', async () => {
    const id = randomUUID();
    expect((await put(id, { name: '' })).status).toBe(400);
    expect((await put(id, { name: 'R', code: '(' })).status).toBe(404);
    expect((await put(id, { name: 'R' })).status).toBe(404);
    const { body: made } = await post(minimal);
    expect((await put(made.id, { name: 'R', code: '(' })).status).toBe(422);
    expect(await get(made.id)).toEqual(made);
  });
});

describe('patch', () => {
  test('204 merges; null removes an optional member', async () => {
    const { id } = await api.current.formula({ configuration: [declared[0]] });
    const { body: made } = await post({ ...minimal, configuration });
    const changes = { code: null, formula: { id }, configuration: { COUNT: null, MORE: 'x' }, retryable: true };
    expect((await patch(made.id, changes)).status).toBe(204);
    const { code: _, ...rest } = made;
    const { KEY, LIVE } = configuration;
    const merged = { formula_id: id, configuration: { KEY, LIVE, MORE: 'x' }, retryable: true };
    expect(await get(made.id)).toMatchObject({ ...rest, ...merged });
    expect((await get(made.id)).configuration).toEqual(merged.configuration);
    expect((await patch(made.id, {})).status).toBe(204);
    expect(await refusal(patch(made.id, { configuration: { KEY: null } }))).toEqual([400, ['configuration.KEY']]);
  });

  test.each([
    [{ name: null }, 'name'],
    [{ code: null }, 'code'],
    [{ formula: { id: randomUUID() } }, 'code'],
    [{ configuration: { KEY: '[hidden]' } }, 'configuration.KEY'],
  ])('400 for %j', async (changes, path) => {
    const { body: made } = await post({ ...minimal, configuration });
    expect(await refusal(patch(made.id, changes))).toEqual([400, [path]]);
    expect(await get(made.id)).toEqual(made);
  });

  test.each(['configuraton', 'retriable', 'formla'])(
    '400 for the misspelt %s, which would do nothing',
    async (name) => {
      const { body: made } = await post(minimal);
      const { status, body } = await patch(made.id, { [name]: null });
      expect([status, body.errors[name]]).toEqual([400, [expect.stringContaining('did you mean')]]);
    },
  );

  test('415 for any other type', async () => {
    const { body: made } = await post(minimal);
    expect((await patch(made.id, {}, { 'Content-Type': 'application/json' })).status).toBe(415);
  });

  test('many at once lose none of the changes', async () => {
    const { body: made } = await post(minimal);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const answers = await Promise.all(names.map((name) => patch(made.id, { configuration: { [name]: name } })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 204));
    expect((await get(made.id)).configuration).toEqual(Object.fromEntries(names.map((name) => [name, name])));
  });
});

test('delete: 204 once; the total counts it no longer', async () => {
  const { anotherTenant, reactor, send } = api.current;
  const { management_key: key } = await anotherTenant('delete');
  const { id } = await reactor({}, { key });
  expect((await send('DELETE', `/reactors/${id}`, { key })).status).toBe(204);
  expect((await send('DELETE', `/reactors/${id}`, { key })).status).toBe(404);
  expect((await send('GET', '/reactors', { key })).body.pagination.total_items).toBe(0);
});

test('an Application that is deleted or has expired is named no more', async () => {
  const { application, db, send } = api.current;
  const [deleted, expired] = [await application(), await application()];
  const made = [];
  for (const { id } of [deleted, expired]) made.push((await post({ ...minimal, application: { id } })).body.id);
  await send('DELETE', `/applications/${deleted.id}`);
  const past = new Date(Date.now() - 1000).toISOString();
  await db.updateTable('applications').set({ expires_at: past }).where('id', '=', expired.id).execute();
  for (const id of made) expect(await get(id)).not.toHaveProperty('application_id');
});

describe('the configuration', () => {
  test('is stored encrypted, of its own reactor only', async () => {
    const { db } = api.current;
    const { body: one } = await post({ ...minimal, configuration });
    const { body: other } = await post({ ...minimal, configuration: { KEY: 'another' } });
    const row = db.selectFrom('reactors').selectAll();
    const stored = await row.where('id', '=', one.id).executeTakeFirstOrThrow();
    expect(JSON.stringify(stored)).not.toContain('value-of-configuration');
    expect(stored.configuration_ciphertext?.toString('latin1')).not.toContain('value-of-configuration');
    const { configuration_ciphertext } = stored;
    await db.updateTable('reactors').set({ configuration_ciphertext }).where('id', '=', other.id).execute();
    expect((await api.current.send('GET', `/reactors/${other.id}`)).status).toBe(500);
    expect((await api.current.send('GET', `/reactors/${one.id}`)).status).toBe(200);
  });

  const seesAll: Record<Role, boolean> = { OWNER: true, ADMIN: true, DEVELOPER: true, AUDITOR: false };

  test.each(roles)('%s sees its values only where the role may change it', async (role) => {
    const { body: made } = await post({ ...minimal, configuration });
    const { send } = await api.current.member(role);
    const hidden = { KEY: '[hidden]', COUNT: '[hidden]', LIVE: '[hidden]' };
    const expected = seesAll[role] ? made : { ...made, configuration: hidden };
    const one = await send('GET', `/api/reactors/${made.id}`);
    const list = await send('GET', `/api/reactors?id=${made.id}`);
    expect([one.body, list.body.data]).toEqual([expected, [expected]]);
  });

  test('a replay shows it only while it is the same, and to a key that may only create as at first', async () => {
    const { keyWith, send } = api.current;
    const key = await keyWith('reactor:create');
    const ask = (name: string) =>
      send('POST', '/reactors', { key, body: { ...minimal, configuration }, headers: { 'SVC-IDEMPOTENCY-KEY': name } });
    const [first, again] = [await ask('a'), await ask('a')];
    expect([again.status, again.body]).toEqual([201, first.body]);
    await patch(first.body.id, { configuration: { KEY: 'replaced' } });
    const { configuration: _, ...rest } = first.body;
    expect((await ask('a')).body).toEqual(rest);
    const { id } = (await ask('b')).body;
    await send('DELETE', `/reactors/${id}`);
    expect((await ask('b')).body).not.toHaveProperty('configuration');
  });

  test('an idempotency key makes one', async () => {
    const { anotherTenant, send } = api.current;
    const { management_key: key } = await anotherTenant('once');
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    for (let i = 0; i < 2; i++) await send('POST', '/reactors', { key, body: minimal, headers });
    expect((await send('GET', '/reactors', { key })).body.pagination.total_items).toBe(1);
  });
});
