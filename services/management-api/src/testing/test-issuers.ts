import { randomUUID } from 'node:crypto';
import type { Role } from '@sluice/access';
import { generateSecret, hashKey } from '@sluice/credentials';
import type { Answer } from '@sluice/testing';
import { insertInvitation } from '../people/invitations/invitation.queries.ts';
import { startTestConsole } from './test-console.ts';
import { startTestIssuer } from './test-issuer.ts';

const consoleUrl = 'https://console.test';
export const callbackUrl = (name: string) => `${consoleUrl}/sign-in/${name}/callback`;

/** Follows redirects at an issuer, with a cookie jar of its own, until one leads back. @returns that address. */
export async function visitIssuer(url: string): Promise<URL> {
  const jar = new Map<string, string>();
  let next = new URL(url);
  for (let i = 0; i < 10; i++) {
    if (next.origin === consoleUrl) return next;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const given of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(given) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`the issuer answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
  }
  throw new Error('the issuer does not lead back');
}

type Browser = ReturnType<Awaited<ReturnType<typeof startTestConsole>>['browser']>;

const pathOf = ({ pathname, search }: URL) => pathname + search;

/** From the button on the sign-in page to the page of the way back. */
export async function visit(browser: Browser, name: string, change: (back: URL) => void = () => {}): Promise<Answer> {
  const left = await browser.send('GET', `/sign-in/${name}`);
  const back = await visitIssuer(left.headers.get('location') ?? '');
  change(back);
  return comeBack(browser, back);
}

/** As a browser does that another site has sent here. */
export function comeBack(browser: Browser, back: URL): Promise<Answer> {
  const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
  return browser.send('GET', pathOf(back), { headers });
}

export const finish = (browser: Browser, body: object = {}) => browser.send('POST', '/api/sign-in/finish', { body });

/** The ids of the Tenants that the page of the way back lists. */
export const tenantsIn = ({ body }: Answer) => [...String(body).matchAll(/data-tenant="([^"]*)"/g)].map(([, id]) => id);

/** The console with two issuers. `one` maps its groups `admins` and `auditors` to roles in the Tenant, and `elsewhere` to the stranger's. */
export async function startTestIssuers(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const one = await startTestIssuer(stack, { redirectUri: callbackUrl('one') });
  const two = await startTestIssuer(stack, { redirectUri: callbackUrl('two') });
  const tenantId = '11111111-1111-4111-8111-111111111111';
  const otherId = '22222222-2222-4222-8222-222222222222';
  const groups = [
    { group: 'admins', tenant_id: tenantId, role: 'ADMIN' },
    { group: 'auditors', tenant_id: tenantId, role: 'AUDITOR' },
    { group: 'elsewhere', tenant_id: otherId, role: 'DEVELOPER' },
  ];
  const api = await startTestConsole(stack, {
    TRUSTED_PROXIES: 'none',
    FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: '0',
    OIDC_ISSUERS: JSON.stringify([one.entry('one', { groups_claim: 'groups', groups }), two.entry('two')]),
    ...settings,
  });
  for (const [id, name] of [
    [tenantId, 'Ours'],
    [otherId, 'Elsewhere'],
  ] as const) {
    await api.db.insertInto('tenants').values({ id, name, owner_id: randomUUID() }).execute();
  }
  /** @returns its secret. */
  async function invitationTo(email: string, { tenantId, role = 'AUDITOR' }: { tenantId: string; role?: Role }) {
    const secret = generateSecret();
    const secretHash = hashKey(api.pepper, secret);
    await insertInvitation(api.db, { tenantId, email, role, secretHash, createdBy: null });
    return secret;
  }

  return { ...api, one, two, tenantId, otherId, invitationTo };
}
