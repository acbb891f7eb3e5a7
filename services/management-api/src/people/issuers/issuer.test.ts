import { serveHttp, useStack } from '@sluice/testing';
import * as oidc from 'openid-client';
import { startTestIssuer, type TestClaims } from '../../testing/test-issuer.ts';
import { callbackUrl, visitIssuer } from '../../testing/test-issuers.ts';
import { attemptOf, randomAttempt } from './attempt.ts';
import { readIssuers } from './issuer.settings.ts';
import { AttemptRefused, Issuer, IssuerUnavailable } from './issuer.ts';

const consoleUrl = 'https://console.test';
const ada: TestClaims = { email: 'ada@example.com', email_verified: true };

function open(entry: object): Issuer {
  const [settings] = readIssuers(JSON.stringify([entry]));
  if (!settings) throw new Error('There is no issuer');
  return new Issuer(settings, consoleUrl);
}

function randomAttemptOf(name = 'one') {
  const attempt = attemptOf(randomAttempt(), name);
  if (!attempt) throw new Error('The attempt has ended');
  return attempt;
}

const started = useStack(async (stack) => {
  const redirectUri = callbackUrl('one');
  // It does not insist on PKCE, so that it is we who do.
  const issuer = await startTestIssuer(stack, { redirectUri, configuration: { pkce: { required: () => false } } });
  issuer.accounts.set('ada', ada);
  return { issuer, opened: open(issuer.entry('one')) };
});

/** What a browser comes back with that has been to the issuer. */
async function visit(attempt = randomAttemptOf(), change: (url: URL) => void = () => {}) {
  const url = await started.current.opened.authorizationUrl(attempt);
  change(url);
  const back = await visitIssuer(url.href);
  return { attempt, back };
}

const identify = ({ back, attempt }: Awaited<ReturnType<typeof visit>>) =>
  started.current.opened.identify(back.searchParams, attempt);

describe('each of the three is looked at, whatever the two others say:', () => {
  const other = 'x'.repeat(43);

  test('the control: with all of them as they were begun somebody is taken', async () => {
    expect(await identify(await visit())).toMatchObject({ subject: 'ada', email: ada.email });
  });

  test.each(['state', 'nonce', 'codeVerifier'] as const)('with another %s nobody is', async (name) => {
    const { attempt, back } = await visit();
    await expect(identify({ back, attempt: { ...attempt, [name]: other } })).rejects.toThrow(AttemptRefused);
  });

  test.each([
    ['state', ['state']],
    ['nonce', ['nonce']],
    ['PKCE', ['code_challenge', 'code_challenge_method']],
  ])('where somebody has taken away %s on the way there, nobody is', async (_what, names) => {
    const visited = await visit(undefined, ({ searchParams }) => {
      for (const name of names) searchParams.delete(name);
    });
    expect(visited.back.searchParams.has('code')).toBe(true);
    await expect(identify(visited)).rejects.toThrow(AttemptRefused);
  });

  /** The same client, less one of its checks: what the tests above refuse would sign somebody in. */
  async function identifyWithout(
    { back }: Awaited<ReturnType<typeof visit>>,
    checks: oidc.AuthorizationCodeGrantChecks,
  ) {
    const { url, entry } = started.current.issuer;
    const { client_id, client_secret } = entry('one');
    const execute = [oidc.allowInsecureRequests];
    const client = await oidc.discovery(new URL(url), client_id, client_secret, undefined, { execute });
    return (await oidc.authorizationCodeGrant(client, back, checks)).claims()?.sub;
  }

  test('controls: a client that skips the check of one takes what is refused above', async () => {
    const forged = await visit();
    forged.back.searchParams.set('state', other);
    const { nonce, codeVerifier: pkceCodeVerifier } = forged.attempt;
    expect(
      await identifyWithout(forged, { expectedState: oidc.skipStateCheck, expectedNonce: nonce, pkceCodeVerifier }),
    ).toBe('ada');

    const withoutNonce = await visit(undefined, ({ searchParams }) => searchParams.delete('nonce'));
    const { attempt } = withoutNonce;
    expect(
      await identifyWithout(withoutNonce, { expectedState: attempt.state, pkceCodeVerifier: attempt.codeVerifier }),
    ).toBe('ada');

    const withoutChallenge = await visit(undefined, ({ searchParams }) => {
      for (const name of ['code_challenge', 'code_challenge_method']) searchParams.delete(name);
    });
    const bare = withoutChallenge.attempt;
    expect(await identifyWithout(withoutChallenge, { expectedState: bare.state, expectedNonce: bare.nonce })).toBe(
      'ada',
    );
  });
});

describe('whether an address is verified', () => {
  const subject = 'grace';
  const email = 'grace@example.com';

  async function emailOf(part: object, claims: object, { conformIdTokenClaims = true, inIdToken = {} } = {}) {
    await using stack = new AsyncDisposableStack();
    const options = { redirectUri: callbackUrl('one'), tamper: () => inIdToken };
    const issuer = await startTestIssuer(stack, { ...options, configuration: { conformIdTokenClaims } });
    issuer.account = subject;
    issuer.accounts.set(subject, { email, ...claims });
    const opened = open(issuer.entry('one', part));
    const attempt = randomAttemptOf();
    const back = await visitIssuer((await opened.authorizationUrl(attempt)).href);
    const identity = await opened.identify(back.searchParams, attempt);
    return { email: identity.email, asked: issuer.asked.filter((path) => path === '/me').length };
  }

  test.each([
    ['the ID token', false, 0],
    ['the userinfo endpoint, which is asked where the ID token lacks it,', true, 1],
  ])('%s says', async (_who, conformIdTokenClaims, asked) => {
    const says = (email_verified: unknown) => emailOf({}, { email_verified }, { conformIdTokenClaims });
    expect(await says(true)).toEqual({ email, asked });
    for (const not of [false, 'true', 1]) expect((await says(not)).email).toBeUndefined();
  });

  test('and which: an address in the ID token is not verified by what the userinfo endpoint says of its own', async () => {
    const inIdToken = { email: 'somebody-else@example.com' };
    expect((await emailOf({}, { email_verified: true }, { inIdToken })).email).toBe(email);
    expect((await emailOf({}, { email_verified: false }, { inIdToken })).email).toBeUndefined();
  });

  test.each([false, true])(
    'in the claim that the setting names, and in no other (by userinfo: %s)',
    async (byUserinfo) => {
      const setting = { email_verified_claim: 'xms_edov' };
      const options = { conformIdTokenClaims: byUserinfo };
      expect((await emailOf(setting, { email_verified: false, xms_edov: true }, options)).email).toBe(email);
      expect((await emailOf(setting, { email_verified: true }, options)).email).toBeUndefined();
      expect((await emailOf(setting, { email_verified: true, xms_edov: '1' }, options)).email).toBeUndefined();
      expect((await emailOf({}, { email_verified: false, xms_edov: true }, options)).email).toBeUndefined();
    },
  );
});

/** An issuer that tells its metadata, if it does, and nothing else. */
async function startSilent(stack: AsyncDisposableStack, { tellsMetadata }: { tellsMetadata: boolean }) {
  const { promise: waiting, resolve: onWaiting } = Promise.withResolvers<void>();
  const url: string = await serveHttp(stack, ({ url: path }, response) => {
    if (!tellsMetadata || path !== '/.well-known/openid-configuration') return onWaiting();
    const endpoints = {
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ issuer: url, ...endpoints }));
  });
  return { opened: open({ name: 'one', issuer: url, client_id: 'a', client_secret: 'b' }), waiting };
}

const exchange = (issuer: Issuer) => {
  const attempt = randomAttemptOf();
  return issuer.identify(new URLSearchParams({ code: 'x', state: attempt.state }), attempt);
};

test.each<[string, boolean, (issuer: Issuer) => Promise<unknown>]>([
  ['its metadata', false, (issuer) => issuer.authorizationUrl(randomAttemptOf())],
  ['the exchange of the code', true, exchange],
])('an issuer that keeps us waiting is given up after five seconds: for %s', async (_what, tellsMetadata, ask) => {
  await using stack = new AsyncDisposableStack();
  const { opened, waiting } = await startSilent(stack, { tellsMetadata });
  const startedAt = performance.now();
  const outcome = ask(opened).catch((error: unknown) => error);
  await waiting;
  expect(await outcome).toEqual(new IssuerUnavailable('took too long'));
  expect(performance.now() - startedAt).toBeGreaterThan(4_990);
});
