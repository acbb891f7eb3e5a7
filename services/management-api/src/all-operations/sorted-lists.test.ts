import { insertTestMember, useStack } from '@sluice/testing';
import { shareTestConsole } from '../testing/test-console.ts';

const api = useStack(() => shareTestConsole());

interface Named {
  id: string;
  name: string;
}

/** In ascending order, but for the two that are equal in lower case. The last two are in another order by UTF-16 units. */
const sorted = ['-', '10', '9', 'alpha', 'Beta', 'beta', 'Zebra', '\u00c4lg', '\uff5a', '\u{1f600}'];
const made = ['Zebra', '9', '\u{1f600}', 'beta', 'alpha', '\uff5a', '10', 'Beta', '-', '\u00c4lg'];

const byNameThenId = (a: Named, b: Named) => place(a) - place(b) || (a.id < b.id ? -1 : 1);
const place = ({ name }: Named) => sorted.findIndex((one) => one.toLowerCase() === name.toLowerCase());

const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

describe.each([
  ['/applications', () => api.current.application],
  ['/proxies', () => api.current.proxy],
  ['/reactors', () => api.current.reactor],
  ['/reactor-formulas', () => api.current.formula],
] as const)('%s', (path, maker) => {
  const tenant = useStack(async () => {
    const { management_key: key } = await api.current.anotherTenant('T');
    const items: Named[] = [];
    for (const name of made) {
      items.push(await maker()({ name }, { key }));
      await pause(); // the order depends on the millisecond
    }
    const { management_key: neighbour } = await api.current.anotherTenant('Neighbour');
    await maker()({ name: 'alpha' }, { key: neighbour });
    return { key, items };
  });

  async function list(query: string): Promise<Named[]> {
    const { status, body } = await api.current.send('GET', `${path}?${query}`, { key: tenant.current.key });
    expect(status).toBe(200);
    // The Tenant's first Application is not of this test.
    return body.data.filter(({ name }: Named) => made.includes(name)).map(({ id, name }: Named) => ({ id, name }));
  }

  const items = () => tenant.current.items.map(({ id, name }) => ({ id, name }));

  test.each([
    ['created_at', () => items()],
    ['-created_at', () => items().reverse()],
    ['', () => items().reverse()],
    ['name', () => items().sort(byNameThenId)],
    ['-name', () => items().sort(byNameThenId).reverse()],
  ] as const)('sort=%s', async (sort, expected) => {
    expect(await list(`sort=${sort}`)).toEqual(expected());
  });

  test('pages of one order have each item once', async () => {
    const pages: Named[] = [];
    for (const page of [1, 2, 3, 4]) pages.push(...(await list(`sort=name&size=3&page=${page}`)));
    expect(pages).toEqual(items().sort(byNameThenId));
  });

  test('a filter by name and an order go together', async () => {
    const named = items().filter(({ name }) => /a/i.test(name));
    expect(await list('name=A&sort=-name')).toEqual(named.sort(byNameThenId).reverse());
    const { body } = await api.current.send('GET', `${path}?name=BETA&size=1`, { key: tenant.current.key });
    expect(body.pagination).toEqual({ total_items: 2, page_number: 1, page_size: 1, total_pages: 2 });
  });

  test('an unknown order is 400 and names the choices', async () => {
    for (const sort of ['%25zz', 'Name', '--name', 'email', 'name%20desc', "name'--"]) {
      const { status, body } = await api.current.send('GET', `${path}?sort=${sort}`);
      expect([status, body.errors]).toEqual([400, { sort: ['must be one of created_at, -created_at, name, -name'] }]);
    }
    expect((await api.current.send('GET', `${path}?sort=name&sort=-name`)).status).toBe(400);
  });

  test('hostile names are plain text, and NUL is 400', async () => {
    for (const name of ["' or 1=1 --", '\\', '%', '_', '"', '\u{1f60e}', '\u202e', '%\\_*']) {
      expect(await list(`name=${encodeURIComponent(name)}`)).toEqual([]);
    }
    expect(await list(`name=${encodeURIComponent('\u{1f600}')}`)).toMatchObject([{ name: '\u{1f600}' }]);
    expect((await api.current.send('GET', `${path}?name=%00`)).status).toBe(400);
    expect((await api.current.send('GET', `${path}?name=${'x'.repeat(201)}`)).status).toBe(400);
  });
});

test('an Application that has expired is in no list by its name', async () => {
  const { management_key: key } = await api.current.anotherTenant('T');
  const { id } = await api.current.application({ name: 'gone' }, { key });
  const list = async () => (await api.current.send('GET', '/applications?name=gone&sort=name', { key })).body;
  expect((await list()).data).toMatchObject([{ id }]);
  const past = new Date(0).toISOString();
  await api.current.db.updateTable('applications').set({ expires_at: past }).where('id', '=', id).execute();
  expect(await list()).toMatchObject({ data: [], pagination: { total_items: 0 } });
});

/** The first OWNER of the Tenant has no address. */
const addresses = ['b@example.com', 'a@x.test', '\u00e4@example.com', 'ab@example.com', 'under_score@example.com'];
const inOrder = ['a@x.test', 'ab@example.com', 'b@example.com', 'under_score@example.com', '\u00e4@example.com'];

const people = useStack(async () => {
  const { management_key: key, tenant_id: tenantId, owner_id } = await api.current.anotherTenant('T');
  const owner = await api.current.signedIn(owner_id, tenantId);
  await pause();
  for (const email of addresses) {
    const { userId } = await insertTestMember(api.current.db, { tenantId, role: 'AUDITOR', email });
    await api.current.signedIn(userId, tenantId);
    await pause();
  }
  for (const email of addresses) {
    await api.current.invitation({ email: `new-${email}` }, { key });
    await pause();
  }
  const { management_key: theirs } = await api.current.anotherTenant('Neighbour');
  await api.current.invitation({ email: 'new-a@x.test' }, { key: theirs });
  const { body: members } = await owner.send('GET', '/api/tenants/self/members');
  const emails = new Map(
    members.data.map(({ user }: { user: { id: string; email?: string } }) => [user.id, user.email ?? null]),
  );
  return { owner, emails };
});

interface Item {
  email?: string;
  user?: { email?: string };
  user_id?: string;
}

describe.each([
  ['/tenants/self/members', [null]],
  ['/tenants/self/invitations', []],
  ['/sign-ins', [null]],
] as const)('%s', (path, withoutAddress) => {
  const get = (query: string) => people.current.owner.send('GET', `/api${path}?${query}`);

  async function list(query: string): Promise<unknown[]> {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    return body.data.map(({ email, user, user_id }: Item) => {
      if (user) return user.email ?? null;
      return email?.replace('new-', '') ?? people.current.emails.get(user_id ?? '');
    });
  }

  test.each([
    ['created_at', [...withoutAddress, ...addresses]],
    ['-created_at', [...addresses.toReversed(), ...withoutAddress]],
    ['', [...addresses.toReversed(), ...withoutAddress]],
    ['email', [...inOrder, ...withoutAddress]],
    ['-email', [...withoutAddress, ...inOrder.toReversed()]],
  ])('sort=%s', async (sort, expected) => {
    expect(await list(`sort=${sort}`)).toEqual(expected);
    const one = await get(`sort=${sort}&size=2&page=2`);
    expect(one.body.data).toEqual((await get(`sort=${sort}`)).body.data.slice(2, 4));
  });

  test.each([
    ['EXAMPLE', addresses.filter((email) => email.includes('example')).toReversed()],
    ['*@x.test', ['a@x.test']],
    ['_', ['under_score@example.com']],
    ['%', []],
    ["' or 1=1 --", []],
    ['\\', []],
  ])('email=%s', async (email, expected) => {
    const { body } = await get(`email=${encodeURIComponent(email)}`);
    expect(await list(`email=${encodeURIComponent(email)}`)).toEqual(expected);
    expect(body.pagination.total_items).toBe(expected.length);
  });

  test.each(['sort=name', 'sort=x', 'email=%00', `email=${'x'.repeat(255)}`])('%s is 400', async (query) => {
    const { status, body } = await get(query);
    expect([status, Object.keys(body.errors)]).toEqual([400, [query.slice(0, query.indexOf('='))]]);
  });
});

test('a person without tenant:member:read sees no sign-in of somebody else by an e-mail address', async () => {
  const { tenant, keyWith, browser } = api.current;
  const other = await insertTestMember(api.current.db, {
    ...{ tenantId: tenant.tenant_id, role: 'AUDITOR', email: 'other@example.com' },
  });
  await api.current.signedIn(other.userId);
  const { send, signIn } = browser();
  await signIn({ key: await keyWith('proxy:read') });
  expect((await send('GET', '/api/sign-ins?email=other')).body.data).toEqual([]);
  expect((await send('GET', '/api/sign-ins')).body.data).toHaveLength(1);
  const reader = browser();
  await reader.signIn({ key: await keyWith('tenant:member:read') });
  expect((await reader.send('GET', '/api/sign-ins?email=other')).body.data).toMatchObject([{ user_id: other.userId }]);
});
