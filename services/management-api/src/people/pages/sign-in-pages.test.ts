import { useStack } from '@sluice/testing';
import { finish, startTestIssuers } from '../../testing/test-issuers.ts';

const api = useStack((stack) => startTestIssuers(stack));

const pages = ['/sign-in', '/invitation', '/sign-out', '/sign-in/none', '/sign-in/one/callback'];

test.each(pages)('%s has a strict policy, is kept nowhere, and is at the host of the console only', async (path) => {
  const { browser, url } = api.current;
  const { headers, body } = await browser().send('GET', path);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('set-cookie')).toBeNull();
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"])
    expect(policy).toContain(part);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(body).not.toMatch(/<script>|<style|\son\w+=/);
  const { status } = await browser().send('GET', path, { headers: { Host: new URL(url).host } });
  expect(status).toBe(404);
});

test.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])('%s begins and ends nothing', async (method) => {
  for (const path of ['/sign-in/one', '/sign-in/one/callback?code=a&state=b']) {
    const { status, headers } = await api.current.browser().send(method, path);
    expect([status, headers.get('set-cookie'), headers.get('allow')]).toEqual([405, null, 'GET']);
  }
});

test.each(['cross-site', 'same-site', '', undefined])(
  'what comes from %s begins nothing, and gets the sign-in page',
  async (site) => {
    const headers = { 'Sec-Fetch-Site': site ?? '' };
    const answer = await api.current.browser().send('GET', '/sign-in/one', { headers });
    expect([answer.status, answer.headers.get('set-cookie'), answer.headers.get('location')]).toEqual([
      200,
      null,
      null,
    ]);
    expect(answer.body).toContain('Continue with one');
  },
);

test.each(['next', 'redirect_uri', 'return_to', 'state', 'iss'])(
  '%s in the address leads nowhere else',
  async (name) => {
    const { browser, one } = api.current;
    const { headers } = await browser().send('GET', `/sign-in/one?${name}=https://elsewhere.example`);
    expect(headers.get('location')?.startsWith(`${one.url}/auth?`)).toBe(true);
    expect(headers.get('location')).not.toContain('elsewhere');
  },
);

describe('what somebody who is not signed in learns of a secret', () => {
  test('unknown, used, expired and malformed ones are alike', async () => {
    const { browser, db, link, tenant, tenantId, invitationTo } = api.current;
    const look = (path: string, body: object) => browser().send('POST', path, { body });
    const used = await link(tenant.tenant_id, tenant.owner_id);
    await browser().signIn({ secret: used });
    const expired = await link(tenant.tenant_id, tenant.owner_id);
    const invitation = await invitationTo('late@example.com', { tenantId });
    const at = { expires_at: new Date(0).toISOString() };
    await db.updateTable('sign_in_links').set(at).execute();
    await db.updateTable('invitations').set(at).execute();
    const answers = [];
    for (const secret of [used, expired, 'x', 'x'.repeat(43)])
      answers.push(await look('/api/sign-in/link', { secret }));
    for (const token of [invitation, expired, 'x']) answers.push(await look('/api/invitations/link', { token }));
    answers.push(await finish(browser()));
    const told = answers.map(({ status, body }) => [status, body.detail]);
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(told[0]?.[0]).toBe(401);
  });

  test('one that is good tells for whom it is, any number of times, and stays good', async () => {
    const { browser, link, tenant, tenantId, invitationTo } = api.current;
    const secret = await link(tenant.tenant_id, tenant.owner_id);
    const token = await invitationTo('ada@example.com', { tenantId, role: 'DEVELOPER' });
    for (let i = 0; i < 2; i++) {
      const { body } = await browser().send('POST', '/api/sign-in/link', { body: { secret } });
      expect(body).toMatchObject({ tenant: { id: tenant.tenant_id, name: 'Tenant' } });
      const invited = await browser().send('POST', '/api/invitations/link', { body: { token } });
      expect(invited.body).toEqual({
        tenant: { id: tenantId, name: 'Ours' },
        email: 'ada@example.com',
        role: 'DEVELOPER',
      });
    }
    expect((await browser().signIn({ secret })).status).toBe(204);
  });
});

test('a flood of what fails is refused, on the way back too, and asks the issuer nothing', async () => {
  await using stack = new AsyncDisposableStack();
  const { browser } = await startTestIssuers(stack, { FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: '3' });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) {
    const attempt = browser();
    await attempt.send('GET', '/sign-in/one');
    statuses.push((await attempt.send('GET', '/sign-in/one/callback?code=a&state=b')).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect((await finish(browser())).status).toBe(429);
});
