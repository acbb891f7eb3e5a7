import { randomUUID } from 'node:crypto';
import { insertTestMember, useStack } from '@sluice/testing';
import { shareTestConsole } from '../testing/test-console.ts';

const api = useStack(() => shareTestConsole());

interface Result {
  kind: string;
  id: string;
  name?: string;
}

async function search(q: string, key?: string): Promise<Result[]> {
  const { status, body } = await api.current.send('GET', `/search?q=${encodeURIComponent(q)}`, { ...(key && { key }) });
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body.data;
}

const namesOf = (results: Result[]) => results.map(({ kind, name }) => `${kind} ${name}`);

/** A Tenant with one of each kind, each of this name. */
async function tenantWith(name: string) {
  const { anotherTenant, application, proxy, reactor, formula, db } = api.current;
  const { tenant_id: tenantId, management_key: key, owner_id } = await anotherTenant('T');
  const ids = {
    application: (await application({ name }, { key })).id,
    proxy: (await proxy({ name }, { key })).id,
    reactor: (await reactor({ name }, { key })).id,
    reactor_formula: (await formula({ name }, { key })).id,
    member: (await insertTestMember(db, { tenantId, role: 'AUDITOR', email: `${name.toLowerCase()}@example.com` })).id,
  };
  return { tenantId, key, owner_id, ids };
}

const all = (ids: Record<string, string>, name: string) =>
  Object.entries(ids).map(([kind, id]) => ({
    ...{ kind, id },
    name: kind === 'member' ? `${name.toLowerCase()}@example.com` : name,
  }));

test('each kind is found by a part of its name or e-mail address, in upper or lower case', async () => {
  const { key, ids } = await tenantWith('Payments');
  for (const text of ['payments', 'AYM', 'Payments']) expect(await search(text, key)).toEqual(all(ids, 'Payments'));
  expect(await search('payments@EXAMPLE', key)).toMatchObject([{ kind: 'member' }]);
  expect(await search('nothing', key)).toEqual([]);
});

test('each kind is found by its id, whole or from its first eight digits on', async () => {
  const { key, ids, owner_id } = await tenantWith('Payments');
  for (const [kind, id] of Object.entries(ids)) {
    for (const text of [id, id.toUpperCase(), id.slice(0, 8), id.slice(0, 9), id.slice(0, 20), id.slice(0, 35)]) {
      expect(await search(text, key)).toMatchObject([{ kind, id }]);
    }
    for (const text of [
      id.slice(0, 7),
      id.replaceAll('-', ''),
      `${id}0`,
      `{${id}}`,
      id.slice(1),
      id.replace('-', '_'),
    ]) {
      expect(await search(text, key)).toEqual([]);
    }
  }
  expect(await search(randomUUID(), key)).toEqual([]);
  // The first OWNER, who has no address, is found by the id of the person.
  const [owner] = await search(owner_id, key);
  expect(Object.keys(owner ?? {})).toEqual(['kind', 'id']);
});

test('a name that looks like the beginning of an id is found, too', async () => {
  const { key, ids } = await tenantWith('Deadbeef 1');
  expect(await search('deadbeef', key)).toMatchObject(all(ids, 'Deadbeef 1'));
});

test('at most eight of a kind, the first by name', async () => {
  const { management_key: key } = await api.current.anotherTenant('T');
  for (let at = 9; at > 0; at--) {
    await api.current.proxy({ name: `Many ${at}` }, { key });
    if (at > 6) await api.current.reactor({ name: `many ${at}` }, { key });
  }
  expect(namesOf(await search('many', key))).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((at) => `proxy Many ${at}`),
    ...[7, 8, 9].map((at) => `reactor many ${at}`),
  ]);
});

describe('kinds that the caller may not read are left out', () => {
  const tenant = useStack(() => tenantWith('Secret'));

  test.each([
    [['application:read'], ['application']],
    [['proxy:read'], ['proxy']],
    [['reactor:read'], ['reactor', 'reactor_formula']],
    [['tenant:member:read'], ['member']],
    [
      ['application:read', 'tenant:member:read'],
      ['application', 'member'],
    ],
    [['log:read', 'application:create', 'tenant:invitation:read'], []],
  ])('%j', async (permissions, kinds) => {
    const { key, ids } = tenant.current;
    const caller = await api.current.application({ type: 'management', name: 'Caller', permissions }, { key });
    for (const text of ['secret', ...Object.values(ids)]) {
      const found = (await search(text, caller.key)).map(({ kind }) => kind);
      expect(found).toEqual(kinds.filter((kind) => text === 'secret' || ids[kind as keyof typeof ids] === text));
    }
  });

  test('keys of other types and sessions find nothing', async () => {
    const { key } = tenant.current;
    const { key: publicKey } = await api.current.application(
      { type: 'public', permissions: ['token:create'] },
      { key },
    );
    const { key: privateKey } = await api.current.application({ name: 'Secret, too' }, { key });
    const { session_key } = await api.current.session({}, { key });
    for (const one of [publicKey, privateKey, session_key]) expect(await search('secret', one)).toEqual([]);
  });

  test('a sign-in finds what its role may read, at the host of the console', async () => {
    const { tenantId, ids } = tenant.current;
    const { send } = await api.current.member('DEVELOPER', { tenantId });
    const { status, body } = await send('GET', '/api/search?q=secret');
    expect(status).toBe(200);
    const { member, ...others } = ids;
    expect(body.data.map(({ id }: Result) => id).filter((id: string) => Object.values(ids).includes(id))).toEqual(
      Object.values(others),
    );
    expect(body.data).not.toContainEqual(expect.objectContaining({ id: member }));
  });
});

test('one Tenant finds nothing of another, neither by name nor by id', async () => {
  const mine = await tenantWith('Shared name');
  const theirs = await tenantWith('Shared name');
  expect(await search('shared', mine.key)).toEqual(all(mine.ids, 'Shared name'));
  for (const id of Object.values(theirs.ids)) {
    expect(await search(id, mine.key)).toEqual([]);
    expect(await search(id, theirs.key)).toHaveLength(1);
  }
});

test('an Application that has expired is not found', async () => {
  const { key, ids } = await tenantWith('Expiring');
  const past = new Date(0).toISOString();
  await api.current.db
    .updateTable('applications')
    .set({ expires_at: past })
    .where('id', '=', ids.application)
    .execute();
  expect((await search('expiring', key)).map(({ kind }) => kind)).not.toContain('application');
  expect(await search(ids.application, key)).toEqual([]);
});

test('what is deleted is not found', async () => {
  const { key, ids } = await tenantWith('Deleted');
  for (const path of [
    ...[`/applications/${ids.application}`, `/proxies/${ids.proxy}`, `/reactors/${ids.reactor}`],
    ...[`/reactor-formulas/${ids.reactor_formula}`, `/tenants/self/members/${ids.member}`],
  ]) {
    expect((await api.current.send('DELETE', path, { key })).status).toBe(204);
  }
  expect(await search('deleted', key)).toEqual([]);
});

describe('hostile text', () => {
  const names = [
    ...[
      "Robert'); drop table proxies; --",
      '100% sure',
      'snake_case',
      'back\\slash',
      'say "hi"',
      'a*b*c',
      '\u{1f600}\u{1f600}\u{1f600}',
    ],
    ...['Stra\u00dfe', '\u00c4\u00d6\u00dc', '\u65e5\u672c\u8a9e', '---', '{{ x }}', '<script>'],
  ];

  const tenant = useStack(async () => {
    const { management_key: key } = await api.current.anotherTenant('T');
    for (const name of names) await api.current.proxy({ name }, { key });
    return { key };
  });

  test.each(names)('%j is found by itself, and alone', async (name) => {
    expect(namesOf(await search(name, tenant.current.key))).toEqual([`proxy ${name}`]);
  });

  test.each([
    '%%%',
    '___',
    '***',
    '\\\\\\',
    "'''",
    '"""',
    'a%c',
    'sn_ke',
    '100_ sure',
    '1=1',
    '\u202e\u202e\u202e',
    '\ufffd'.repeat(200),
  ])('%j finds nothing', async (text) => {
    expect(await search(text, tenant.current.key)).toEqual([]);
  });

  test('200 emoji are 200 characters', async () => {
    expect(await search('\u{1f600}'.repeat(200), tenant.current.key)).toEqual([]);
  });
});

test.each([
  ['', 'is required'],
  ['?q=', 'is required'],
  ['?q=ab', expect.stringContaining('3')],
  ['?q=%F0%9F%98%80%F0%9F%98%80', expect.stringContaining('3')],
  [`?q=${'x'.repeat(201)}`, expect.stringContaining('200')],
  ['?q=abc%00', expect.any(String)],
  ['?q=abc&q=def', 'may be sent only once'],
])('%s is 400', async (query, message) => {
  const { status, body } = await api.current.send('GET', `/search${query}`);
  expect([status, body.errors]).toEqual([400, { q: [message] }]);
});

test('without a key 401, and other methods 405', async () => {
  expect((await api.current.send('GET', '/search?q=abc', { key: 'x' })).status).toBe(401);
  expect((await api.current.browser().send('GET', '/api/search?q=abc')).status).toBe(401);
  expect((await api.current.send('POST', '/search?q=abc', { body: {} })).status).toBe(405);
});
