import { serveBytes, slow, useStack } from '@sluice/testing';
import { startTestIssuer, type Tamper, type TestClaims } from '../../testing/test-issuer.ts';
import { callbackUrl, comeBack, finish, startTestIssuers, visit, visitIssuer } from '../../testing/test-issuers.ts';

const api = useStack((stack) => startTestIssuers(stack));

const ada: TestClaims = { email: 'ada@example.com', email_verified: true, groups: ['auditors'] };

beforeEach(() => {
  api.current.one.account = 'ada';
  api.current.one.accounts.set('ada', ada);
});

type Browser = ReturnType<(typeof api.current)['browser']>;

/** Refused without a word of why, and nothing that came along signs in. */
async function expectRefused(browser: Browser, back: URL) {
  const answer = await comeBack(browser, back);
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
  expect(answer.body).toContain('You are not signed in');
  expect((await finish(browser)).status).toBe(401);
}

async function leave(browser: Browser, name = 'one'): Promise<URL> {
  const left = await browser.send('GET', `/sign-in/${name}`);
  expect(left.status).toBe(302);
  return new URL(left.headers.get('location') ?? '');
}

test('what goes to the issuer: a code with PKCE, a state and a nonce, each time others', async () => {
  const { browser, one } = api.current;
  const urls = [await leave(browser()), await leave(browser())];
  for (const { origin, searchParams } of urls) {
    expect(origin).toBe(one.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: callbackUrl('one'),
      scope: 'openid email profile',
    });
  }
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(new Set(urls.map(({ searchParams }) => searchParams.get(name))).size).toBe(2);
  }
  const { headers } = await browser().send('GET', '/sign-in/one');
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-sluice-attempt=[^;]+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
  );
});

describe('what comes back is refused', () => {
  test.each(['state', 'code', 'iss'])('without %s, with another one, or with two', async (name) => {
    const { browser } = api.current;
    const changes: ((back: URL) => void)[] = [
      ({ searchParams }) => searchParams.delete(name),
      ({ searchParams }) => searchParams.set(name, 'x'.repeat(43)),
      ({ searchParams }) => searchParams.append(name, searchParams.get(name) ?? ''),
    ];
    for (const change of changes) {
      const person = browser();
      const back = await visitIssuer((await leave(person)).href);
      change(back);
      await expectRefused(person, back);
    }
  });

  test('with an error of the issuer', async () => {
    const person = api.current.browser();
    const back = await visitIssuer((await leave(person)).href);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<script>alert(1)</script>');
    const { status, body } = await comeBack(person, back);
    expect(status).toBe(401);
    expect(body).not.toContain('alert(1)');
  });

  test('in a browser that did not begin, with the cookie of another attempt, and twice', async () => {
    const { browser } = api.current;
    const [victim, attacker, other] = [browser(), browser(), browser()];
    const back = await visitIssuer((await leave(attacker)).href);
    await expectRefused(victim, back);
    await leave(other);
    await expectRefused(other, back);
    expect((await comeBack(attacker, back)).status).toBe(200);
    await expectRefused(browser(), back);
    const again = await comeBack(attacker, back);
    expect(again.status).toBe(401);
  });

  test('with a code that was used before, although cookie and state are right', async () => {
    const person = api.current.browser();
    const back = await visitIssuer((await leave(person)).href);
    const { attempt } = person.state;
    expect((await comeBack(person, back)).status).toBe(200);
    const replaying = api.current.browser();
    replaying.state.attempt = attempt;
    await expectRefused(replaying, back);
  });

  test.each([
    ['two cookies', (attempt: string) => `${attempt}; __Host-sluice-attempt=x`],
    ['one whose end was changed', (attempt: string) => attempt.replace(/\d+$/, (end) => String(Number(end) + 1))],
    ['one that ended', (attempt: string) => attempt.replace(/\d+$/, String(Date.now() - 1))],
    ['one of another name', (attempt: string) => attempt.replace('__Host-', '')],
  ])('with %s', async (_what, change) => {
    const person = api.current.browser();
    const back = await visitIssuer((await leave(person)).href);
    person.state.attempt = change(person.state.attempt);
    await expectRefused(person, back);
  });

  test('with a challenge or a nonce that somebody put in the place of ours', async () => {
    const { browser } = api.current;
    for (const name of ['code_challenge', 'nonce']) {
      const person = browser();
      const url = await leave(person);
      url.searchParams.set(name, 'x'.repeat(43));
      await expectRefused(person, await visitIssuer(url.href));
    }
  });

  test('from another issuer than it was begun with, by either way back', async () => {
    const { browser, two } = api.current;
    two.account = 'ada';
    two.accounts.set('ada', ada);
    const person = browser();
    const back = await visitIssuer((await leave(person, 'two')).href);
    const { attempt } = person.state;
    const mixed = new URL(back.href.replace('/two/', '/one/'));
    await expectRefused(person, mixed);
    person.state.attempt = attempt;
    const { one } = api.current;
    back.searchParams.set('iss', one.url);
    await expectRefused(person, back);
  });
});

describe('an issuer that is not honest', () => {
  /** Its ID tokens are signed by its own key, as an issuer of several that turned hostile could do. */
  async function identifyWith(tamper: Tamper, sign: (token: string) => string = (token) => token) {
    await using stack = new AsyncDisposableStack();
    const issuer = await startTestIssuer(stack, { redirectUri: callbackUrl('bad'), tamper, sign });
    issuer.accounts.set('ada', ada);
    const settings = { OIDC_ISSUERS: JSON.stringify([issuer.entry('bad')]) };
    const { browser, logLines } = await startTestIssuers(stack, settings);
    const person = browser();
    const answer = await visit(person, 'bad');
    expect((await finish(person)).status).not.toBe(204);
    return { answer, log: logLines.join('') };
  }

  const past = Math.floor(Date.now() / 1000) - 3600;

  test.each<[string, Tamper]>([
    ['of another issuer', () => ({ iss: api.current.one.url })],
    ['for another client', () => ({ aud: 'another' })],
    ['that expired', () => ({ iat: past - 60, exp: past })],
    ['without a nonce', () => ({ nonce: undefined })],
    ['with another nonce', () => ({ nonce: 'x' })],
    ['without a subject', () => ({ sub: undefined })],
  ])('an ID token %s is refused', async (_what, tamper) => {
    const { answer, log } = await identifyWith(tamper);
    expect(answer.status).toBe(401);
    expect(log).not.toContain('ada@example.com');
  });

  test.each([
    ['by nobody', (token: string) => token.replace(/[^.]*$/, '')],
    ['by another key', (token: string) => token.replace(/[^.]{8}$/, 'AAAAAAAA')],
  ])('an ID token that is signed %s is refused', async (_what, sign) => {
    expect((await identifyWith(() => undefined, sign)).answer.status).toBe(401);
  });

  slow('0.5 s')('and one that is as it should be is taken, so the tests above refuse for their reasons', async () => {
    expect((await identifyWith(() => ({}))).answer.status).toBe(200);
  });
});

slow('0.5 s')(
  'an issuer that is away, or answers nothing, is 503 within its five seconds, and the console lives on',
  async () => {
    await using stack = new AsyncDisposableStack();
    const away = { name: 'away', issuer: 'http://127.0.0.1:1', client_id: 'a', client_secret: 'b' };
    const slow = { ...away, name: 'slow', issuer: await serveBytes(stack, () => {}) };
    const opened = await startTestIssuers(stack, { OIDC_ISSUERS: JSON.stringify([away, slow]) });
    for (const name of ['away', 'slow']) {
      const { status, body, headers } = await opened.browser().send('GET', `/sign-in/${name}`);
      expect([status, headers.get('set-cookie')]).toEqual([503, null]);
      expect(body).toContain('is unavailable');
    }
    expect((await opened.browser().send('GET', '/sign-in')).status).toBe(200);
  },
);

slow('0.6 s')(
  'a page of another site that sends its visitor to the way back locks nobody out; wrong answers to an attempt count',
  async () => {
    await using stack = new AsyncDisposableStack();
    const { browser, tenant } = await startTestIssuers(stack, {
      TRUSTED_PROXIES: '127.0.0.0/8, ::1/128',
      FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: '3',
    });
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' };
    const comeBackWithout = () => browser().send('GET', '/sign-in/one/callback?code=x&state=y', { headers });
    for (let i = 0; i < 5; i++) expect((await comeBackWithout()).status).toBe(401);
    expect((await browser().signIn({ key: tenant.management_key })).status).toBe(204);
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      const attempt = browser();
      await attempt.send('GET', '/sign-in/one');
      statuses.push((await attempt.send('GET', '/sign-in/one/callback?code=x&state=y', { headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  },
);
