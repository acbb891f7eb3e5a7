import { useStack } from '@sluice/testing';
import { createTenant } from '../platform.ts';
import { openConsole, signIn, signInLink } from './open-console.ts';

const world = useStack(openConsole);

test('who is signed in is seen everywhere, and leaves', async () => {
  await using opened = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  await opened.goto('/nowhere', 'Nothing here');
  await opened.look('not-found');
  await page.getByRole('button', { name: /account/ }).click();
  await page.getByText('Owner', { exact: true }).waitFor();
  await page.getByLabel('Account', { exact: true }).locator(':focus').waitFor();
  // The focus is at the moment when the sign-in ends, but nobody has asked for it exactly
  expect(await page.getByText(/:\d\d [AP]M/).count()).toBe(0);
  await opened.look('account');
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.waitForURL(`${world.current.consoleUrl}/sign-in`);
});

test('when a sign-in has ended, the next one leads back to the same address', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const address = `${world.current.consoleUrl}/applications?type=private`;
  await page.goto(address);
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  opened.expectStatus(401);
  await page.context().clearCookies();
  await page.reload();
  await page.waitForURL(`${world.current.consoleUrl}/sign-in`);
  await page.goto('about:blank');
  await page.goto(await signInLink(world.current));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(address);
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
});

test('what somebody may not do is explained, not hidden', async () => {
  const { sluice, consoleUrl } = world.current;
  const { key } = await sluice.applications.create({
    name: 'Reader',
    type: 'management',
    permissions: ['application:read'],
  });
  await using opened = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByLabel('Management key').fill(key);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByText('You cannot see the figures of this Tenant').waitFor();
  await opened.look('overview-locked');
  await opened.goto('/applications', 'Applications');
  await page.getByRole('button', { name: 'New Application' }).click();
  await page.getByText(/need the permission application:create, which the key/).waitFor();
  await opened.look('applications-explained');
  await opened.goto('/proxies', 'Proxies');
  await page.getByText('You cannot see Proxies').waitFor();
});

test('a person changes to another Tenant', async () => {
  const { query, stack } = world.current;
  const other = await createTenant(world.current);
  await query(
    `INSERT INTO members (tenant_id, user_id, role)
     SELECT $1, owner_id, 'AUDITOR' FROM tenants WHERE id = $2`,
    [other.tenant_id, stack.credentials.tenant_id],
  );
  await using opened = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  await page.getByRole('button', { name: /account/ }).click();
  await page.getByText('Change to another Tenant').waitFor();
  await opened.look('change-tenant');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: /Auditor/ }).click()]);
  await page.getByRole('button', { name: /account/ }).click();
  await page.getByText('Auditor', { exact: true }).waitFor();
});

test('the keyboard alone reaches the content and the navigation', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/applications', 'Applications');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter'); // skips to the content
  await page.locator('#main:focus').waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await page.getByRole('button', { name: 'Open the navigation' }).press('Enter');
  await page.getByRole('dialog', { name: 'Navigation' }).getByRole('link', { name: 'Proxies' }).press('Enter');
  await page.getByRole('heading', { name: 'Proxies', level: 1 }).waitFor();
});
