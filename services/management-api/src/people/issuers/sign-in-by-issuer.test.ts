import type { Role } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { finish, startTestIssuers, tenantsIn, visit } from '../../testing/test-issuers.ts';

const api = useStack((stack) => startTestIssuers(stack));

let people = 0;

/** Somebody whom nobody knows yet, at the browser of the first issuer. */
function addPerson(claims: object = {}) {
  const { one, browser } = api.current;
  const subject = `person-${people++}`;
  const email = `${subject}@example.com`;
  one.account = subject;
  one.accounts.set(subject, { email, email_verified: true, given_name: 'Ada', ...claims });
  return { subject, email, ...browser() };
}

const invite = (email: string, { tenantId = api.current.tenantId, ...part }: { tenantId?: string; role?: Role } = {}) =>
  api.current.invitationTo(email, { tenantId, ...part });

const membersNamed = (subject: string) =>
  api.current.db
    .selectFrom('members')
    .innerJoin('identities', 'identities.user_id', 'members.user_id')
    .select(['members.tenant_id', 'members.role', 'members.source', 'members.id', 'members.user_id'])
    .where('identities.subject', '=', subject)
    .orderBy('members.tenant_id')
    .execute();

test('a member of a group signs in, and is told who they are', async () => {
  const person = addPerson({ groups: ['auditors'], picture: 'https://example.com/a.png' });
  const back = await visit(person, 'one');
  expect([back.status, tenantsIn(back)]).toEqual([200, [api.current.tenantId]]);
  expect(person.state.cookie).toBe('');
  const finished = await finish(person);
  expect([finished.status, finished.headers.get('set-cookie')]).toEqual([
    204,
    expect.stringContaining('__Host-sluice='),
  ]);
  expect((await person.send('GET', '/api/me')).body).toMatchObject({
    user: { email: person.email, first_name: 'Ada', picture: 'https://example.com/a.png' },
    tenant: { id: api.current.tenantId, name: 'Ours' },
    role: 'AUDITOR',
  });
});

test('the highest of the roles that the groups give counts, and nobody is made an OWNER', async () => {
  const person = addPerson({ groups: ['auditors', 'admins', 'unknown', 7] });
  await visit(person, 'one');
  expect(await membersNamed(person.subject)).toMatchObject([{ role: 'ADMIN', source: 'group' }]);
});

test('whoever is in no Tenant signs in nowhere, and leaves no trace but the attempt', async () => {
  const person = addPerson();
  const back = await visit(person, 'one');
  expect([back.status, tenantsIn(back)]).toEqual([200, []]);
  expect((await finish(person)).status).toBe(403);
  expect((await finish(person, { tenant_id: api.current.tenantId })).status).toBe(403);
  const { db } = api.current;
  expect(await db.selectFrom('users').select('id').where('email', '=', person.email).execute()).toEqual([]);
});

describe('an invitation', () => {
  test('is accepted by the address that the issuer has verified, in any case, and once', async () => {
    const { subject, email, ...person } = addPerson();
    api.current.one.accounts.set(subject, { email: email.toUpperCase(), email_verified: true });
    const invitation = await invite(email, { role: 'DEVELOPER' });
    await visit(person, 'one');
    expect((await finish(person, { invitation })).status).toBe(204);
    expect((await person.send('GET', '/api/me')).body).toMatchObject({ role: 'DEVELOPER', user: { email } });
    await visit(person, 'one');
    expect((await finish(person, { invitation })).status).toBe(403);
    expect((await finish(person)).status).toBe(204); // what the issuer said is not used up by a refusal
  });

  test.each([
    { email_verified: false },
    { email_verified: undefined },
    { email_verified: 'true' },
    { email: 'other@example.com' },
  ])('is nothing for %j', async (claims) => {
    const { subject, email, ...person } = addPerson();
    const invitation = await invite(email);
    api.current.one.accounts.set(subject, { email, email_verified: true, ...claims });
    await visit(person, 'one');
    const refused = await finish(person, { invitation });
    const unknown = await finish(person, { invitation: 'x'.repeat(43) });
    expect([refused.status, refused.body.detail]).toEqual([403, unknown.body.detail]);
    expect(await membersNamed(subject)).toEqual([]);
    const { db } = api.current;
    expect(await db.selectFrom('invitations').select('id').where('email', '=', email).execute()).toHaveLength(1);
  });

  test('makes a member of somebody whom a group made one with another role', async () => {
    const { subject, email, ...person } = addPerson({ groups: ['auditors'] });
    await visit(person, 'one');
    await finish(person);
    const invitation = await invite(`${subject}-2@example.com`, { role: 'DEVELOPER' });
    api.current.one.accounts.set(subject, { email: `${subject}-2@example.com`, email_verified: true });
    await visit(person, 'one'); // without the group
    expect(await membersNamed(subject)).toEqual([]);
    expect((await finish(person, { invitation })).status).toBe(204);
    expect(await membersNamed(subject)).toMatchObject([{ role: 'DEVELOPER', source: 'person' }]);
    expect(email).not.toBe('');
  });
});

test('the same address at two issuers is two people', async () => {
  const { one, two, browser, db } = api.current;
  const email = 'twice@example.com';
  const [first, second] = [browser(), browser()];
  one.account = 'twice';
  two.account = 'twice';
  for (const issuer of [one, two]) issuer.accounts.set('twice', { email, email_verified: true });
  const invitation = await invite(email);
  await visit(first, 'one');
  expect((await finish(first, { invitation })).status).toBe(204);
  const back = await visit(second, 'two');
  expect(tenantsIn(back)).toEqual([]);
  expect((await finish(second)).status).toBe(403);
  const again = await invite(email, { tenantId: api.current.otherId });
  expect((await finish(second, { invitation: again })).status).toBe(204);
  const identities = await db
    .selectFrom('identities')
    .select(['issuer', 'user_id'])
    .where('subject', '=', 'twice')
    .execute();
  expect(new Set(identities.map(({ user_id }) => user_id)).size).toBe(2);
});

describe('a group that is taken away', () => {
  test('ends the membership at the next sign-in, and every sign-in of it', async () => {
    const { one } = api.current;
    const person = addPerson({ groups: ['admins', 'elsewhere'] });
    const before = await visit(person, 'one');
    expect(tenantsIn(before).sort()).toEqual([api.current.tenantId, api.current.otherId].sort());
    await finish(person, { tenant_id: api.current.tenantId });
    expect((await person.send('GET', '/api/me')).body.role).toBe('ADMIN');
    one.accounts.set(person.subject, { email: person.email, email_verified: true, groups: ['elsewhere'] });
    const elsewhere = api.current.browser();
    expect(tenantsIn(await visit(elsewhere, 'one'))).toEqual([api.current.otherId]);
    expect((await person.send('GET', '/api/me')).status).toBe(401);
    expect(await membersNamed(person.subject)).toMatchObject([{ tenant_id: api.current.otherId, role: 'DEVELOPER' }]);
    const log = await api.current.db
      .selectFrom('audit_log')
      .select(['operation', 'actor_type', 'detail'])
      .where('entity_type', '=', 'member')
      .where('actor_id', '=', (await membersNamed(person.subject))[0]?.user_id ?? '')
      .where('tenant_id', '=', api.current.tenantId)
      .orderBy('at')
      .execute();
    const detail = { role: 'ADMIN', source: 'group' };
    expect(log).toEqual([
      { operation: 'create', actor_type: 'user', detail },
      { operation: 'delete', actor_type: 'user', detail },
    ]);
  });

  test('is not what another issuer says of a person with identities at both', async () => {
    const { one, two, browser, db, tenantId } = api.current;
    const person = addPerson({ groups: ['auditors'] });
    await visit(person, 'one');
    const [member] = await membersNamed(person.subject);
    two.account = `${person.subject} at two`;
    two.accounts.set(two.account, {});
    const identity = { issuer: two.url, subject: two.account, user_id: member?.user_id ?? '' };
    await db.insertInto('identities').values(identity).execute();
    expect(tenantsIn(await visit(browser(), 'two'))).toEqual([tenantId]);
    one.accounts.set(person.subject, {});
    expect(tenantsIn(await visit(browser(), 'one'))).toEqual([]); // the control
  });

  test('and one that gives another role changes it', async () => {
    const { one } = api.current;
    const person = addPerson({ groups: ['admins'] });
    await visit(person, 'one');
    await finish(person);
    one.accounts.set(person.subject, { groups: ['auditors'] });
    await visit(api.current.browser(), 'one');
    expect((await person.send('GET', '/api/me')).body.role).toBe('AUDITOR');
  });
});

test('a Tenant that is closed does not keep its members out of their other Tenants', async () => {
  const { db, one, otherId, tenantId } = api.current;
  const person = addPerson({ groups: ['auditors', 'elsewhere'] });
  await visit(person, 'one');
  const ofOther = { role: 'ADMIN', source: 'group' } as const;
  await db
    .updateTable('members')
    .set(ofOther)
    .where('tenant_id', '=', otherId)
    .where('user_id', '=', (await membersNamed(person.subject))[0]?.user_id ?? '')
    .execute();
  const setClosed = (closed_at: string | null) =>
    db.updateTable('tenants').set({ closed_at }).where('id', '=', otherId).execute();
  await setClosed(new Date().toISOString());
  try {
    one.account = person.subject;
    expect(tenantsIn(await visit(person, 'one'))).toEqual([tenantId]);
    const left = await membersNamed(person.subject);
    expect(left.find(({ tenant_id }) => tenant_id === otherId)).toMatchObject(ofOther);
  } finally {
    await setClosed(null);
  }
});

describe('what a person has done stays', () => {
  const owner = () => api.current.member('OWNER', { tenantId: api.current.tenantId });

  test('whoever is removed is not made a member by a group, until invited again', async () => {
    const person = addPerson({ groups: ['admins'] });
    await visit(person, 'one');
    await finish(person);
    const [member] = await membersNamed(person.subject);
    expect((await (await owner()).send('DELETE', `/api/tenants/self/members/${member?.id}`)).status).toBe(204);
    expect((await person.send('GET', '/api/me')).status).toBe(401);
    for (let i = 0; i < 2; i++) expect(tenantsIn(await visit(person, 'one'))).toEqual([]);
    expect((await finish(person)).status).toBe(403);
    const invitation = await invite(person.email, { role: 'AUDITOR' });
    expect((await finish(person, { invitation })).status).toBe(204);
    expect(await membersNamed(person.subject)).toMatchObject([{ role: 'AUDITOR', source: 'person' }]);
  });

  test('whoever is demoted stays so, and comes back with no higher role when the group comes back', async () => {
    const { one } = api.current;
    const person = addPerson({ groups: ['admins'] });
    await visit(person, 'one');
    const [member] = await membersNamed(person.subject);
    const demoted = await (await owner()).send('PUT', `/api/tenants/self/members/${member?.id}`, {
      body: { role: 'AUDITOR' },
    });
    expect(demoted.status).toBe(200);
    await visit(person, 'one');
    expect(await membersNamed(person.subject)).toMatchObject([{ role: 'AUDITOR' }]);
    one.accounts.set(person.subject, { email: person.email, email_verified: true });
    await visit(person, 'one');
    expect(await membersNamed(person.subject)).toEqual([]);
    one.accounts.set(person.subject, { email: person.email, email_verified: true, groups: ['admins'] });
    await visit(person, 'one');
    expect(await membersNamed(person.subject)).toEqual([]);
  });

  test('an OWNER by a person stays when the group goes', async () => {
    const { one } = api.current;
    const person = addPerson({ groups: ['admins'] });
    await visit(person, 'one');
    const [member] = await membersNamed(person.subject);
    await (await owner()).send('PUT', `/api/tenants/self/members/${member?.id}`, { body: { role: 'OWNER' } });
    one.accounts.set(person.subject, {});
    expect(tenantsIn(await visit(person, 'one'))).toEqual([api.current.tenantId]);
  });
});

test('a person of two Tenants chooses one, and changes to the other', async () => {
  const { tenantId, otherId, stranger } = api.current;
  const person = addPerson({ groups: ['auditors', 'elsewhere'] });
  const back = await visit(person, 'one');
  expect(back.body).toContain('Elsewhere');
  expect((await finish(person)).status).toBe(400);
  expect((await finish(person, { tenant_id: stranger.tenant_id })).status).toBe(403);
  expect((await finish(person, { tenant_id: otherId })).status).toBe(204);
  expect((await person.send('GET', '/api/me')).body.tenant.id).toBe(otherId);
  expect((await person.send('POST', '/api/sign-in/tenant', { body: { tenant_id: tenantId } })).status).toBe(204);
  expect((await person.send('GET', '/api/me')).body.tenant.id).toBe(tenantId);
});

test('twenty who finish at once with one cookie: one signs in', async () => {
  const person = addPerson({ groups: ['auditors'] });
  await visit(person, 'one');
  const answers = await Promise.all(Array.from({ length: 20 }, () => finish(person)));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 19 }, () => 401)]);
});

test('the providers are told to whoever asks from a page of the console', async () => {
  const { browser } = api.current;
  expect((await browser().send('GET', '/api/sign-in-providers')).body).toEqual([{ name: 'one' }, { name: 'two' }]);
});
