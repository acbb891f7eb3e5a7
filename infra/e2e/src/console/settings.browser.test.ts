import { useStack } from '@sluice/testing';
import type { OpenPage } from '@sluice/testing/browser';
import { openConsole, signIn, signInLink } from './open-console.ts';

const world = useStack(async () => {
  const platform = await openConsole();
  await platform.sluice.applications.create({ name: 'Backend', type: 'private', permissions: ['token:create'] });
  return platform;
});

/** The buttons in tables that stand out of their table, which hides what does not fit. */
const cutButtons = (page: OpenPage['page']) =>
  page.evaluate(() => {
    const isCut = (button: Element) => {
      const edge = button.closest('table')?.getBoundingClientRect().right ?? 0;
      return button.getBoundingClientRect().right > edge;
    };
    return [...document.querySelectorAll('table button')].filter(isCut).map(({ textContent }) => textContent);
  });

test('the Tenant gets another name', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings', 'Settings');
  await page.getByLabel('Name', { exact: true }).fill('A shop');
  await page.getByLabel('Fingerprint every token').setChecked(true);
  await opened.look('settings-tenant');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The settings were saved').waitFor();
  await page.reload();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('A shop');
  expect(await page.getByLabel('Fingerprint every token').isChecked()).toBe(true);
});

test('closing the Tenant asks for its name', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings', 'Settings');
  await page.getByRole('button', { name: 'Delete the Tenant' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type the name of the Tenant').fill('something else');
  expect(await dialog.getByRole('button', { name: 'Delete Tenant' }).isDisabled()).toBe(true);
  await opened.look('settings-close-tenant');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
});

test('somebody is invited, and the invitation is sent again and deleted', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings/people', 'Settings');
  await page.getByText('No open invitations').waitFor();
  await page.getByRole('cell', { name: '(you)' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('button', { name: 'Invite again' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByLabel('Role').selectOption('DEVELOPER');
  await opened.look('settings-invite');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  const shown = page.getByRole('dialog', { name: 'The invitation of ada@example.com' });
  expect(await shown.locator('pre').textContent()).toContain(`${world.current.consoleUrl}/invitation#`);
  await shown.getByText('Send this text to ada@example.com yourself: no mail is sent.').waitFor();
  await page.keyboard.press('Escape');
  const mail = await shown.getByRole('link', { name: 'Write an e-mail' }).getAttribute('href');
  expect(mail).toMatch(/^mailto:ada%40example\.com\?subject=/);
  await opened.look('settings-invitation');
  await shown.getByRole('button', { name: 'I have sent it' }).click();
  await page.getByRole('cell', { name: 'ada@example.com' }).waitFor();
  await opened.look('settings-people');
  await page.getByRole('button', { name: 'New link' }).click();
  await page.getByRole('button', { name: 'I have sent it' }).click();
  await page
    .getByRole('row', { name: /ada@example/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No open invitations').waitFor();
});

test('a member without an account is invited again, and returns by the link', async () => {
  const { consoleUrl, manage, openPage } = world.current;
  await using closing = new AsyncDisposableStack();
  const { page: lost } = await openPage(closing);
  const { page: found } = await openPage(closing);
  const email = 'grace@example.com';
  const { body: invited } = await manage('POST', '/tenants/self/invitations', { email, role: 'DEVELOPER' });
  const accept = async (page: OpenPage['page'], link: string) => {
    await page.goto(link);
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  };
  await accept(lost, invited.url);
  const askVault = () =>
    lost.evaluate(async () => {
      const prefix = document.documentElement.dataset.headerPrefix;
      return (await fetch('/api/tokens', { headers: { [`${prefix}-CONSOLE`]: '1' } })).status;
    });
  expect(await askVault()).toBe(200); // from here on the vault has this sign-in in its cache

  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings/people', 'Settings');
  const row = page.getByRole('row', { name: /grace@example/ });
  await row.getByRole('button', { name: 'Invite again' }).waitFor();
  expect(await cutButtons(page)).toEqual([]);
  await row.getByRole('button', { name: 'Invite again' }).click();
  const dialog = page.getByRole('dialog', { name: `Invite ${email} again?` });
  await dialog.getByText('In one browser. This browser is signed out when the link is accepted.').waitFor();
  await opened.look('settings-invite-again');
  await dialog.getByRole('button', { name: 'Invite again' }).click();
  const shown = page.getByRole('dialog', { name: `The invitation of ${email}` });
  const link = /http\S+/.exec((await shown.locator('pre').textContent()) ?? '')?.[0] ?? '';
  await opened.look('settings-invited-again');
  await shown.getByRole('button', { name: 'I have sent it' }).click();
  await page.getByText('The invited person takes over the membership of the member with this address').waitFor();
  await opened.look('settings-people-again');

  await accept(found, link);
  expect(await askVault()).toBe(401);
  await lost.goto(`${consoleUrl}/tokens`); // The page may have gone to /sign-in already, so it has no link to click.
  await lost.waitForURL(`${consoleUrl}/sign-in`);
  await opened.goto('/settings/people', 'Settings');
  await row.getByText('Developer').waitFor();
  expect(await row.count()).toBe(1);

  await lost.goto(await signInLink(world.current)); // in the tab that is at /sign-in already
  await lost.getByRole('button', { name: 'Sign in', exact: true }).click();
  await lost.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
});

test('what would be refused is locked, with the reason: for the last owner, and for an admin', async () => {
  await using opened = await signIn(world.current);
  await opened.goto('/settings/people', 'Settings');
  const own = opened.page.getByRole('row', { name: /you/ });
  for (const name of ['Role', 'Remove']) {
    await own.getByRole('button', { name }).click();
    await opened.page.getByText('A Tenant needs at least one Owner. Make another member Owner first.').waitFor();
    if (name === 'Role') await opened.screenshot('settings-last-owner');
    await opened.page.keyboard.press('Escape');
  }

  const email = 'admin@example.com';
  const { body: invited } = await world.current.manage('POST', '/tenants/self/invitations', { email, role: 'ADMIN' });
  await using closing = new AsyncDisposableStack();
  const { page } = await world.current.openPage(closing);
  await page.goto(invited.url);
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const { consoleUrl } = world.current;
  const why = page.getByText('Only an Owner who is signed in as a person may do this, because it concerns an Owner.');

  await page.goto(`${consoleUrl}/settings/people`);
  const owner = page.getByRole('row').filter({ has: page.getByText('Owner', { exact: true }) });
  for (const name of ['Role', 'Remove']) {
    await owner.getByRole('button', { name }).first().click();
    await why.waitFor();
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });
  }
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const offered = page.getByRole('dialog').getByLabel('Role').locator('option');
  expect(await offered.allTextContents()).toEqual(['Admin', 'Developer', 'Auditor']);

  const members = Promise.withResolvers<void>();
  await page.route('**/tenants/self/members?*', (route) => members.promise.then(() => route.continue()));
  await page.goto(`${consoleUrl}/settings/sign-ins`);
  const others = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'End' }) });
  await page.getByText('this browser').waitFor();
  expect(await others.count()).toBe(0); // what depends on the role of the person is not offered before it is known
  members.resolve();
  await others.first().getByRole('button', { name: 'End' }).click();
  await why.waitFor();

  await page.goto(`${consoleUrl}/applications/new`);
  const template = page.getByRole('button', { name: /^administrator/ });
  await template.getByText('You need permissions for this that you do not have: tenant:delete.').waitFor();
  expect(await template.isDisabled()).toBe(true);
  await page.getByLabel('Type').selectOption({ label: 'Management: tools that manage the Tenant and see no tokens' });
  expect(await page.getByLabel(/^tenant:delete/).isDisabled()).toBe(true);
  expect(await page.getByLabel(/^tenant:update/).isDisabled()).toBe(false);
});

test('another sign-in is ended, and its browser signs in anew', async () => {
  await using opened = await signIn(world.current);
  await using other = await signIn(world.current, await signInLink(world.current));
  const { page } = opened;
  await opened.goto('/settings/sign-ins', 'Settings');
  await page.getByText('this browser').waitFor();
  await opened.look('settings-sign-ins');
  // Those of the tests before are there too, so all but this browser's end.
  for (let left = await page.getByRole('button', { name: 'End' }).count(); left > 0; left--) {
    await page.getByRole('button', { name: 'End' }).first().click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'End' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  }
  await page.getByText('this browser').waitFor();
  other.expectStatus(401);
  await other.page.getByRole('link', { name: 'Settings' }).click();
  await other.page.waitForURL(`${world.current.consoleUrl}/sign-in`);
});

test('data keys and usage are shown', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await opened.goto('/settings/vault', 'Settings');
  await page.getByText('Active this month').waitFor();
  await page.getByRole('columnheader', { name: 'Reserved' }).waitFor();
  await page.getByText('it reserves encryptions with the key, at least 1,024 at once').waitFor();
  await opened.look('settings-vault');
});
