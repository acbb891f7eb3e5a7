import { createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type AccountClaims, type Configuration, type JWK } from 'oidc-provider';

/** The claims of an account other than its subject. */
export type TestClaims = Omit<AccountClaims, 'sub'> & Record<string, unknown>;

export type Tamper = (claims: Record<string, unknown>) => object | undefined;

interface TestIssuerOptions {
  /** Of the relying party: where the browser comes back. */
  redirectUri: string;
  configuration?: Configuration;
  /** Changes the claims of each ID token, which is signed again; with `undefined` it stays. */
  tamper?: Tamper;
  /** Changes the signed ID token. */
  sign?: (token: string) => string;
}

let key: KeyObject | undefined;

/** One for all issuers of a process, because it takes up to a second to make. */
function signingKey(): KeyObject {
  key ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  return key;
}

/**
 * An OpenID provider at a free port, which asks nobody for a password: `issuer.account` is who sits at the browser, and
 * `asked` has the paths of all requests.
 */
export async function startTestIssuer(stack: AsyncDisposableStack, options: TestIssuerOptions) {
  const { redirectUri, configuration, tamper, sign } = options;
  const privateKey = signingKey();
  const client = { client_id: 'sluice', client_secret: randomUUID(), redirect_uris: [redirectUri] };
  const accounts = new Map<string, TestClaims>();
  const issuer = { account: 'ada' };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url?.split('?')[0] ?? '');
    if (request.url === '/token') changeIdToken(response, { privateKey, tamper, sign });
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: Provider = new Provider(url, {
    clients: [client],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' } as JWK] },
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false }, userinfo: { enabled: true } },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified', 'xms_edov'],
      profile: ['given_name', 'family_name', 'picture', 'groups'],
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId, clientId: client.client_id });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    ttl: { IdToken: 60, AccessToken: 60, AuthorizationCode: 60, Grant: 600, Interaction: 60, Session: 600 },
    ...configuration,
  });
  const answer = provider.callback();
  const listener: RequestListener = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    const login = { accountId: issuer.account };
    provider
      .interactionFinished(request, response, { login })
      .catch((error: unknown) => response.destroy(error as Error));
  };
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  /** An entry of `OIDC_ISSUERS`. */
  const entry = (name: string, part: object = {}) => ({ name, issuer: url, ...pick(client), ...part });
  return Object.assign(issuer, { url, entry, provider, accounts, asked });
}

const pick = ({ client_id, client_secret }: { client_id: string; client_secret: string }) => ({
  client_id,
  client_secret,
});

interface Changing {
  privateKey: KeyObject;
  tamper: Tamper | undefined;
  sign: ((token: string) => string) | undefined;
}

/** In the answer of the token endpoint, before it is sent. */
function changeIdToken(response: ServerResponse, { privateKey, tamper, sign = (token) => token }: Changing): void {
  if (!tamper) return;
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((text: string) => {
    const { id_token: token, ...rest } = JSON.parse(text) as { id_token?: string };
    if (token === undefined) return end(text);
    const [head = '', payload = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const changed = tamper(claims);
    const body = `${head}.${Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url')}`;
    const signature = createSign('RSA-SHA256').update(body).sign(privateKey, 'base64url');
    const sent = JSON.stringify({ ...rest, id_token: sign(`${body}.${signature}`) });
    response.setHeader('Content-Length', Buffer.byteLength(sent));
    return end(sent);
  }) as typeof response.end;
}
