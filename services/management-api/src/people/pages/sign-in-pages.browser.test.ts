import { generateSecret, hashKey } from '@sluice/credentials';
import { useStack } from '@sluice/testing';
import { findBarriers, type OpenPage, openBrowser, type Rendering, renderings } from '@sluice/testing/browser';
import { startTestConsole } from '../../testing/test-console.ts';
import { startTestIssuer } from '../../testing/test-issuer.ts';
import { insertInvitation } from '../invitations/invitation.queries.ts';

const world = useStack(async (stack) => {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const consoleUrl = `http://console.localhost:${port}`;
  const issuer = await startTestIssuer(stack, { redirectUri: `${consoleUrl}/sign-in/keycloak/callback` });
  const settings = {
    CONSOLE_HOST: `console.localhost:${port}`,
    PORT: String(port),
    OIDC_ISSUERS: JSON.stringify([issuer.entry('keycloak')]),
  };
  const api = await startTestConsole(stack, settings);
  const browser = await openBrowser();
  async function invite(email: string, tenantId = api.tenant.tenant_id) {
    const secret = generateSecret();
    const secretHash = hashKey(api.pepper, secret);
    await insertInvitation(api.db, { tenantId, email, role: 'ADMIN', secretHash, createdBy: null });
    return `${consoleUrl}/invitation#${secret}`;
  }
  return { api, issuer, browser, consoleUrl, invite };
});

async function open(look: Rendering = { width: 1280, scheme: 'light' }) {
  const stack = new AsyncDisposableStack();
  const viewport = { width: look.width, height: 720 };
  const opened = await world.current.browser.openPage(stack, { viewport, colorScheme: look.scheme });
  return { ...opened, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Signing in leads to the console; who is signed in stands on a page of its own too. */
async function seeSignedIn(page: OpenPage['page']) {
  const { consoleUrl } = world.current;
  await page.waitForURL(`${consoleUrl}/`);
  await page.goto(`${consoleUrl}/sign-out`);
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
}

test.each(renderings)('each page is read by everybody, $width px wide and $scheme', async (look) => {
  const { api, consoleUrl, invite, issuer } = world.current;
  const { tenant, stranger, db } = api;
  await using opened = await open(look);
  const { page, seen } = opened;
  const check = async (name: string) => {
    await opened.screenshot(`${name}-${look.width}-${look.scheme}`);
    expect([name, await findBarriers(page)]).toEqual([name, []]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(look.width);
  };
  await page.goto(`${consoleUrl}/sign-in`);
  await page.locator('summary').click();
  await check('sign-in');
  const secret = await api.link(tenant.tenant_id, tenant.owner_id);
  await page.goto(`${consoleUrl}/sign-in#${secret}`);
  await page.getByText('This link works once.').waitFor();
  await check('sign-in-link');
  const email = `two-${look.width}-${look.scheme}@example.com`;
  issuer.account = email;
  issuer.accounts.set(email, { email, email_verified: true });
  await page.goto(await invite(email));
  await page.getByText(email).waitFor();
  await check('invitation');
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeSignedIn(page);
  await page.getByText(email).waitFor();
  await check('signed-in');
  const { user_id } = await db
    .selectFrom('identities')
    .select('user_id')
    .where('subject', '=', email)
    .executeTakeFirstOrThrow();
  await db.insertInto('members').values({ tenant_id: stranger.tenant_id, user_id, role: 'AUDITOR' }).execute();
  await page.reload();
  await page.getByRole('heading', { name: 'Your other Tenants' }).waitFor();
  await check('change-tenant');
  await page.getByRole('button', { name: stranger.tenant_id }).click();
  await seeSignedIn(page);
  await page.locator('[data-slot="role"]').getByText('AUDITOR').waitFor();
  await page.goto(`${consoleUrl}/sign-in/keycloak`);
  await page.getByRole('heading', { name: 'Choose a Tenant' }).waitFor();
  await check('choose-tenant');
  await page.goto(`${consoleUrl}/sign-in/keycloak/callback?code=x&state=y`);
  await check('sign-in-failed');
  expect(seen.violations).toEqual([]);
  expect(opened.requestsBeyond(consoleUrl, issuer.url)).toEqual([]);
});

test('a key that is refused is said at its field, which gets the focus; the trace id of a failure is behind Details', async () => {
  const { consoleUrl } = world.current;
  await using opened = await open();
  const { page } = opened;
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByText('Use a management key').click();
  const key = page.getByLabel('Management key');
  await key.fill('not a key');
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('alert').waitFor();
  expect(await key.evaluate((field) => [field.matches(':focus'), field.getAttribute('aria-invalid')])).toEqual([
    true,
    'true',
  ]);
  await page.goto(`${consoleUrl}/sign-in/keycloak/callback?code=x&state=y`);
  expect(await page.getByText(/^Trace id/).isVisible()).toBe(false);
  await page.getByText('Details').click();
  await page.getByText(/^Trace id/).waitFor();
});

test('a session: a person is invited, accepts through the issuer, is demoted, and signs out', async () => {
  const { api, consoleUrl, issuer, invite } = world.current;
  issuer.account = 'grace';
  issuer.accounts.set('grace', { email: 'grace@example.com', email_verified: true });
  await using opened = await open();
  const { page } = opened;
  const role = page.locator('[data-slot="role"]');
  await page.goto(await invite('grace@example.com'));
  await page.waitForURL(`${consoleUrl}/invitation`); // the secret has left the address
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeSignedIn(page);
  await role.getByText('ADMIN').waitFor();
  const { id } = await api.db
    .selectFrom('members')
    .innerJoin('identities', 'identities.user_id', 'members.user_id')
    .select('members.id')
    .where('identities.subject', '=', 'grace')
    .executeTakeFirstOrThrow();
  const demoted = await api.send('PUT', `/tenants/self/members/${id}`, { body: { role: 'AUDITOR' } });
  expect(demoted.status).toBe(200);
  await page.reload();
  await role.getByText('AUDITOR').waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.waitForURL(`${consoleUrl}/sign-in`);
  await page.goto(`${consoleUrl}/`);
  await page.waitForURL(`${consoleUrl}/sign-in`);
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeSignedIn(page);
  await role.getByText('AUDITOR').waitFor();
});

test('a link that is pasted into a tab at the same page is that link, and not what the tab has shown', async () => {
  const { api, consoleUrl, invite } = world.current;
  const { tenant, stranger, link } = api;
  await using opened = await open();
  const { page } = opened;
  await page.goto(await invite('first@example.com'));
  await page.getByText('first@example.com').waitFor();
  await page.goto(await invite('second@example.com'));
  await page.getByText('second@example.com').waitFor();
  await page.goto(`${consoleUrl}/sign-in`);
  for (const { tenant_id, owner_id } of [tenant, stranger]) {
    await page.goto(`${consoleUrl}/sign-in#${await link(tenant_id, owner_id)}`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await page.waitForURL(`${consoleUrl}/sign-in`); // the secret has left the address
  }
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await seeSignedIn(page);
});

test('an invitation is accepted only by the sign-in that was begun on its page', async () => {
  const { api, consoleUrl, issuer, invite } = world.current;
  const { tenant, stranger, db } = api;
  issuer.account = 'linus';
  issuer.accounts.set('linus', { email: 'linus@example.com', email_verified: true });
  await using opened = await open();
  const { page } = opened;
  const signOut = async () => {
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(`${consoleUrl}/sign-in`);
  };
  const seeTenant = async (id: string) => {
    const { name } = await db.selectFrom('tenants').select('name').where('id', '=', id).executeTakeFirstOrThrow();
    await seeSignedIn(page);
    await page.locator('[data-slot="tenant"]').getByText(name, { exact: true }).waitFor();
  };
  await page.goto(await invite('linus@example.com'));
  await page.getByText('linus@example.com').waitFor();
  await page.reload();
  await page.getByText('linus@example.com').waitFor();
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeTenant(tenant.tenant_id);
  await signOut();

  // Opened, and left
  const link = await invite('linus@example.com', stranger.tenant_id);
  await page.goto(link);
  await page.getByText('linus@example.com').waitFor();
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeTenant(tenant.tenant_id);
  await signOut();

  // Used for a sign-in that was given up
  await page.goto(link);
  await page.getByText('linus@example.com').waitFor();
  const asks = { contentType: 'text/html', body: 'The issuer asks' };
  await page.route(`${consoleUrl}/sign-in/keycloak`, (route) => route.fulfill(asks));
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await page.getByText('The issuer asks').waitFor();
  await page.unrouteAll();
  await page.goto(`${consoleUrl}/sign-in`);
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeTenant(tenant.tenant_id);
  await signOut();

  await page.goto(link);
  await page.getByRole('link', { name: 'Continue with keycloak' }).click();
  await seeTenant(stranger.tenant_id);
});

test('a page of another site can neither begin, nor finish, nor sign out', async () => {
  const { api, consoleUrl, issuer } = world.current;
  const { tenant } = api;
  const secret = await api.link(tenant.tenant_id, tenant.owner_id);
  await using opened = await open();
  const { page } = opened;
  await page.goto(`${consoleUrl}/sign-in#${secret}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await seeSignedIn(page);
  const cookies = async () =>
    (await page.context().cookies(consoleUrl)).map(({ name, value }) => `${name}=${value}`).sort();
  const before = await cookies();
  expect(before).toHaveLength(1);
  // The issuer's origin is another site; the base host is a sibling, which is the same site.
  for (const elsewhere of [issuer.url, consoleUrl.replace('console.', 'fields.')]) {
    await page.goto(`${elsewhere}/nothing`);
    const outcomes = await page.evaluate(async (target) => {
      const tries = [
        fetch(`${target}/api/sign-out`, { method: 'POST', credentials: 'include', mode: 'no-cors' }),
        fetch(`${target}/api/sign-out`, { method: 'POST', credentials: 'include', headers: { 'SVC-CONSOLE': '1' } }),
        fetch(`${target}/api/sign-in/finish`, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' }),
        fetch(`${target}/api/me`, { credentials: 'include' }),
        fetch(`${target}/sign-in/keycloak`, { credentials: 'include', mode: 'no-cors', redirect: 'follow' }),
      ];
      const image = new Image();
      image.src = `${target}/sign-in/keycloak`;
      const settled = await Promise.allSettled(tries);
      return settled.map((each) => (each.status === 'fulfilled' ? each.value.type : 'refused'));
    }, consoleUrl);
    expect(outcomes.filter((type) => type !== 'refused' && type !== 'opaque')).toEqual([]);
    await page.evaluate((target) => {
      const form = Object.assign(document.createElement('form'), { method: 'POST', action: `${target}/api/sign-out` });
      document.body.append(form);
      form.submit();
    }, consoleUrl);
    await page.waitForURL(`${consoleUrl}/api/sign-out`);
    await page.goto(`${elsewhere}/nothing`);
    await page.evaluate((target) => location.assign(`${target}/sign-in/keycloak`), consoleUrl);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await cookies()).toEqual(before);
  }
  await page.goto(`${consoleUrl}/sign-out`);
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
});
