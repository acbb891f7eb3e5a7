import { ConfigError } from '@sluice/service-runtime';
import { UsageError } from '@sluice/service-runtime/command-line';
import { useStack } from '@sluice/testing';
import { runCommandFile } from '../../testing/run-command-file.ts';
import { shareTestConsole } from '../../testing/test-console.ts';
import { readArguments } from './console.arguments.ts';
import { makeLink } from './perform-console-command.ts';

const api = useStack(() => shareTestConsole());

const settings = () => ({
  DATABASE_URL: api.current.databaseUrl,
  KEY_PEPPER: api.current.secrets.KEY_PEPPER,
  CONSOLE_HOST: 'console.localhost:8080',
  CONSOLE_LINK_SIGN_IN: 'true',
});

test('a link signs in as the OWNER, once, and the audit log of the Tenant has a row for it', async () => {
  const { tenant, browser, db } = api.current;
  const args = ['link', '--tenant', tenant.tenant_id];
  const { code, output, errors } = await runCommandFile('people/sign-ins/console.command.ts', args, settings());
  expect([code, errors]).toEqual([0, '']);
  expect(output).toMatch(/^http:\/\/console\.localhost:8080\/sign-in#[0-9A-Za-z]{43}\n$/);
  const { send, signIn } = browser();
  const secret = output.trim().split('#')[1];
  expect((await signIn({ secret })).status).toBe(204);
  expect((await send('GET', '/api/me')).body).toMatchObject({
    user: { id: tenant.owner_id, email: 'owner@localhost' },
    tenant: { id: tenant.tenant_id },
    role: 'OWNER',
  });
  expect((await browser().signIn({ secret })).status).toBe(401);
  const rows = await db
    .selectFrom('audit_log')
    .select(['actor_type', 'operation', 'message'])
    .where('entity_id', '=', tenant.owner_id)
    .orderBy('at')
    .execute();
  expect(rows[0]).toEqual({ actor_type: 'system', operation: 'update', message: 'Sign-in link created for the User' });
});

const linkOf = (tenantId: string | undefined, more: { email?: string; memberId?: string } = {}) => ({
  tenantId,
  email: more.email,
  memberId: more.memberId,
});

test('a member is signed in by their address; of two with the same one is chosen', async () => {
  const { anotherTenant, member, db, browser } = api.current;
  const { tenant_id: tenantId } = await anotherTenant('Linked');
  const email = 'grace@example.com';
  const join = async () => {
    const joined = await member('DEVELOPER', { tenantId });
    await db.updateTable('users').set({ email }).where('id', '=', joined.userId).execute();
    return joined;
  };
  const make = (more: { memberId?: string } = {}) =>
    makeLink(linkOf(tenantId, { email: 'Grace@Example.com', ...more }), settings());
  const entered = async (more: { memberId?: string } = {}) => {
    const { signIn, send } = browser();
    expect((await signIn({ secret: (await make(more)).split('#')[1] })).status).toBe(204);
    return (await send('GET', '/api/me')).body;
  };
  const first = await join();
  expect(await entered()).toMatchObject({ role: 'DEVELOPER', user: { id: first.userId }, tenant: { id: tenantId } });
  const row = await db
    .selectFrom('audit_log')
    .select('message')
    .where('entity_id', '=', first.userId)
    .where('actor_type', '=', 'system')
    .executeTakeFirst();
  expect(row?.message).toBe('Sign-in link created for the User');

  const second = await join();
  for (const { id } of [first, second]) await expect(make()).rejects.toThrow(`--member ${id}  DEVELOPER, since 2`);
  await expect(make()).rejects.toThrow(UsageError);
  expect(await entered({ memberId: second.id })).toMatchObject({ user: { id: second.userId } });
  const stranger = await member('OWNER');
  await expect(make({ memberId: stranger.id })).rejects.toThrow('This member has another e-mail address');
  const unknown = linkOf(tenantId, { email: 'nobody@example.com' });
  await expect(makeLink(unknown, settings())).rejects.toThrow('No member of the Tenant');
});

const none = '00000000-0000-4000-8000-000000000000';
const linkSignInOff = { CONSOLE_LINK_SIGN_IN: 'false' };

test.each([
  ['without the Tenant where there are two', undefined, {}, UsageError, '--tenant is required'],
  ['for a Tenant that there is not', none, {}, Error, `There is no Tenant ${none}`],
  ['where the setting does not allow links', none, linkSignInOff, ConfigError, 'CONSOLE_LINK_SIGN_IN: is not true'],
  ['where no console is served', none, { CONSOLE_HOST: '' }, ConfigError, 'CONSOLE_HOST: is not set'],
])('no link is made %s', async (_name, tenantId, part, kind, message) => {
  const made = makeLink(linkOf(tenantId), { ...settings(), ...part });
  await expect(made).rejects.toThrow(kind);
  await expect(made).rejects.toThrow(message);
});

test('what cannot be done is printed, and the command leaves with its code', async () => {
  const { code, output, errors } = await runCommandFile('people/sign-ins/console.command.ts', ['link'], settings());
  expect([code, output, errors]).toEqual([
    2,
    '',
    expect.stringMatching(/--tenant is required\n\nUsage: npm run console/),
  ]);
});

test.each([
  [[], 'The command is "link"'],
  [['link', 'more'], 'The command is "link"'],
  [['link', '--tenant', 'x'], '--tenant must be a UUID'],
  [['link', '--email', 'a@b.test', '--member', 'x'], '--member must be a UUID'],
  [['link', '--member', none], '--member goes with --email'],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});
