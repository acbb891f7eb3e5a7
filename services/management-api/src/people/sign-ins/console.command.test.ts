import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { programEnvironment, useStack } from '@sluice/testing';
import { startTestConsole } from '../../testing/test-console.ts';

const api = useStack((stack) => startTestConsole(stack));

interface Ran {
  code: number;
  output: string;
  errors: string;
}

function run(file: string, args: string[], part: Record<string, string> = {}): Promise<Ran> {
  const { databaseUrl, secrets } = api.current;
  const settings = {
    DATABASE_URL: databaseUrl,
    KEY_PEPPER: secrets.KEY_PEPPER,
    CONSOLE_HOST: 'console.localhost:8080',
    CONSOLE_LINK_SIGN_IN: 'true',
  };
  const env = { ...programEnvironment(), ...settings, ...part };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [fileURLToPath(new URL(file, import.meta.url)), ...args],
      { env },
      (error, output, errors) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, output, errors });
      },
    );
  });
}

const link = (args: string[], part?: Record<string, string>) => run('./console.command.ts', ['link', ...args], part);

test('a link signs in as the OWNER, once, and the audit log of the Tenant has a row for it', async () => {
  const { tenant, browser, db } = api.current;
  const { code, output, errors } = await link(['--tenant', tenant.tenant_id]);
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
  expect(rows[0]).toEqual({ actor_type: 'system', operation: 'update', message: 'Link to sign in made for the User' });
});

test.each<[string, string[], Record<string, string>, number]>([
  ['without the Tenant where there are two', [], {}, 2],
  ['with what is no id', ['--tenant', 'x'], {}, 2],
  ['for a Tenant that there is not', ['--tenant', '00000000-0000-4000-8000-000000000000'], {}, 1],
  ['where the setting does not allow links', [], { CONSOLE_LINK_SIGN_IN: 'false' }, 78],
  ['where no console is served', [], { CONSOLE_HOST: '' }, 78],
])('no link is printed %s', async (_name, args, part, exit) => {
  const { code, output, errors } = await link(args, part);
  expect([code, output, errors === '']).toEqual([exit, '', false]);
});

test('the owner is invited by name: whoever accepts is the user owner_id, also after a removal', async () => {
  const { anotherTenant, browser, db, member } = api.current;
  const tenant = await anotherTenant('Owned');
  const invite = async () => {
    const { output } = await run('../../tenants/tenant.command.ts', [
      'owner',
      '--invite',
      'Ada@example.com',
      '--tenant',
      tenant.tenant_id,
    ]);
    expect(output).toMatch(/^http:\/\/console\.localhost:8080\/invitation#[0-9A-Za-z]{43}\n$/);
    return output.trim().split('#')[1];
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

test.each([
  [['owner']],
  [['owner', '--invite', 'x']],
  [['owner', '--invite', 'a@b', '--name', 'x']],
  [['create', '--name', 'x', '--invite', 'a@b']],
])('tenant %j is a fault of usage', async (args) => {
  expect((await run('../../tenants/tenant.command.ts', args)).code).toBe(2);
});
