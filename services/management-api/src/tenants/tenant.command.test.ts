import { call, useStack } from '@sluice/testing';
import { runCommandFile } from '../testing/run-command-file.ts';
import { shareTestConsole } from '../testing/test-console.ts';
import { perform } from './perform-tenant-command.ts';
import { readArguments, type TenantCommand } from './tenant.arguments.ts';

const api = useStack(() => shareTestConsole());

const settings = () => ({
  DATABASE_URL: api.current.databaseUrl,
  KEY_PEPPER: api.current.secrets.KEY_PEPPER,
  CONSOLE_HOST: 'console.localhost:8080',
});

const tenantCommand = (...args: string[]) => perform(readArguments(args) as TenantCommand, settings());

test('creates a Tenant and prints its first management key once, which may do everything', async () => {
  const { url } = api.current;
  const args = ['create', '--name', 'Acmé 😀', '--json'];
  const { code, output, errors } = await runCommandFile('tenants/tenant.command.ts', args, settings());
  expect([code, errors]).toEqual([0, '']);
  const created = JSON.parse(output);
  const key = created.management_key;
  expect(await call(url, 'GET', '/tenants/self', { key })).toMatchObject({
    status: 200,
    body: { id: created.tenant_id, owner_id: created.owner_id, name: 'Acmé 😀' },
  });
  const self = (await call(url, 'GET', '/applications/key', { key })).body;
  expect(self).toMatchObject({ id: created.application_id, type: 'management' });
  expect(self.permissions).toHaveLength(24);
});

test.each([
  [2, ['create'], {}, '--name is required'],
  [78, ['create', '--name', 'T'], { KEY_PEPPER: '' }, 'KEY_PEPPER: is required'],
])('leaves with %i for %j and settings %j, and prints why', async (expected, args, part, why) => {
  const { code, output, errors } = await runCommandFile('tenants/tenant.command.ts', args, { ...settings(), ...part });
  expect([code, output, errors]).toEqual([expected, '', expect.stringContaining(why)]);
});

test('takes an owner, and prints for people without --json', async () => {
  const owner = '0b8a1f1e-0000-4000-8000-000000000001';
  const output = await tenantCommand('create', '--name', 'T', '--owner', owner);
  expect(output).toContain(owner);
  expect(output).toMatch(/svc_live_mgt_[0-9A-Za-z]{49}/);
});

test('makes one more full key for a Tenant, with a row in its log, and leaves the first as it is', async () => {
  const { url, db } = api.current;
  const first = JSON.parse(await tenantCommand('create', '--name', 'Lost', '--json'));
  const second = JSON.parse(await tenantCommand('key', '--tenant', first.tenant_id, '--json'));
  expect(second).toMatchObject({
    tenant_id: first.tenant_id,
    management_key: expect.stringMatching(/^svc_live_mgt_/),
  });
  expect(second.application_id).not.toBe(first.application_id);
  const applications = await Promise.all(
    [first, second].map(({ management_key: key }) => call(url, 'GET', '/applications/key', { key })),
  );
  expect(applications.map(({ status }) => status)).toEqual([200, 200]);
  const third = JSON.parse(await tenantCommand('key', '--tenant', first.tenant_id, '--json'));
  const { body: last } = await call(url, 'GET', '/applications/key', { key: third.management_key });
  const names = [...applications.map(({ body }) => body.name), last.name];
  expect(new Set(names).size).toBe(3); // because a name identifies in files of the command line
  expect(names).toEqual(['Management', ...Array(2).fill(expect.stringMatching(/^Management \d{4}-\d\d-\d\dT/))]);
  expect(applications[1]?.body.permissions).toEqual(applications[0]?.body.permissions);
  const rows = await db
    .selectFrom('audit_log')
    .select(['actor_type', 'operation', 'entity_type', 'entity_id'])
    .where('entity_id', '=', second.application_id)
    .execute();
  expect(rows).toEqual([
    { actor_type: 'system', operation: 'create', entity_type: 'application', entity_id: second.application_id },
  ]);
  expect((await call(url, 'DELETE', '/tenants/self', { key: second.management_key })).status).toBe(204);
  const missing = /^There is no Tenant .*, or it is closed$/;
  await expect(tenantCommand('key', '--tenant', first.tenant_id)).rejects.toThrow(missing);
  const none = '0b8a1f1e-0000-4000-8000-000000000001';
  await expect(tenantCommand('key', '--tenant', none)).rejects.toThrow(missing);
});

test('the owner is invited by name: whoever accepts is the user owner_id, also after a removal', async () => {
  const { anotherTenant, browser, db, member } = api.current;
  const tenant = await anotherTenant('Owned');
  const invite = async () => {
    const output = await tenantCommand('owner', '--invite', 'Ada@example.com', '--tenant', tenant.tenant_id);
    expect(output).toMatch(/^http:\/\/console\.localhost:8080\/invitation#[0-9A-Za-z]{43}$/);
    return output.split('#')[1];
  };
  const accepts = async () => {
    const { send } = browser();
    expect((await send('POST', '/api/invitations/accept', { body: { token: await invite() } })).status).toBe(204);
    return (await send('GET', '/api/me')).body;
  };
  const asOwner = { user: { id: tenant.owner_id, email: 'ada@example.com' }, role: 'OWNER' };
  expect(await accepts()).toMatchObject(asOwner);
  const other = await member('OWNER', { tenantId: tenant.tenant_id });
  const first = await db
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', tenant.owner_id)
    .executeTakeFirstOrThrow();
  expect((await other.send('DELETE', `/api/tenants/self/members/${first.id}`)).status).toBe(204);
  expect(await accepts()).toMatchObject(asOwner);
});
