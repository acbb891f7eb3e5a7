import * as oidc from 'openid-client';
import { asciiLowerCase } from '../ascii-lower-case.ts';
import type { Attempt } from './attempt.ts';
import { type IssuerSettings, rolesOf } from './issuer.settings.ts';

/**
 * A person as an issuer describes them. The first two members identify the person; an address may pass from one person
 * to another.
 */
export interface Identity {
  issuer: string;
  subject: string;
  /** In lower case; absent unless the issuer calls it verified. */
  email?: string;
  firstName?: string;
  lastName?: string;
  picture?: string;
  /** The person's roles by Tenant, from their groups. */
  roles: ReadonlyMap<string, 'ADMIN' | 'DEVELOPER' | 'AUDITOR'>;
}

export class IssuerUnavailable extends Error {}

/** The response of an issuer was refused, so nobody is signed in. */
export class AttemptRefused extends Error {}

const timeoutSeconds = 5;
const metadataMs = 3600_000;

/** An OpenID Connect issuer, by authorization code with PKCE. */
export class Issuer {
  readonly name: string;
  readonly url: string;
  /** Tenants in which its groups give roles. */
  readonly tenantIds: ReadonlySet<string>;
  readonly #settings: IssuerSettings;
  readonly #callbackUrl: string;
  #known: { configuration: Promise<oidc.Configuration>; until: number } | undefined;

  constructor(settings: IssuerSettings, consoleUrl: string) {
    this.name = settings.name;
    this.url = new URL(settings.issuer).href;
    this.tenantIds = new Set(settings.groups.map(({ tenant_id }) => tenant_id));
    this.#settings = settings;
    this.#callbackUrl = `${consoleUrl}/sign-in/${settings.name}/callback`;
  }

  /** Where the browser goes to sign in. @throws {IssuerUnavailable} */
  authorizationUrl(attempt: Attempt): Promise<URL> {
    return inTime(async () => {
      const found = await this.#configuration();
      const supported = found.serverMetadata().scopes_supported ?? [];
      const forGroups = this.#settings.groups_claim && supported.includes('groups') ? ' groups' : '';
      return oidc.buildAuthorizationUrl(found, {
        redirect_uri: this.#callbackUrl,
        scope: `openid email profile${forGroups}`,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: 'S256',
      });
    });
  }

  /**
   * Finds out who signed in, from the parameters with which the browser came back. @throws {IssuerUnavailable}
   * @throws {AttemptRefused} for whatever is missing, forged, expired, or from another issuer or browser.
   */
  identify(answer: URLSearchParams, { state, nonce, codeVerifier }: Attempt): Promise<Identity> {
    return inTime(async () => {
      const found = await this.#configuration();
      const tokens = await oidc.authorizationCodeGrant(found, new URL(`${this.#callbackUrl}?${answer}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('The answer of the issuer has no ID token');
      const more = needsMore(this.#settings, claims) && found.serverMetadata().userinfo_endpoint !== undefined;
      const userInfo = more ? await oidc.fetchUserInfo(found, tokens.access_token, claims.sub) : {};
      const verified = verifiedEmailOf(this.#settings, [claims, userInfo]);
      return toIdentity(this.#settings, { ...userInfo, ...claims }, verified);
    });
  }

  /** One request serves all who wait for it, and its result is cached for an hour. */
  #configuration(): Promise<oidc.Configuration> {
    const now = performance.now();
    if (this.#known && now < this.#known.until) return this.#known.configuration;
    const asking = discover(this.#settings);
    const mine = { configuration: asking, until: now + metadataMs };
    this.#known = mine;
    asking.catch(() => {
      if (this.#known === mine) this.#known = undefined;
    });
    return asking;
  }
}

async function discover(settings: IssuerSettings): Promise<oidc.Configuration> {
  const server = new URL(settings.issuer);
  const found = await oidc.discovery(server, settings.client_id, undefined, authenticateBy(settings), {
    timeout: timeoutSeconds,
    // The signature of each ID token is verified, although the standard lets a client rely on TLS instead.
    execute: [oidc.enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [oidc.allowInsecureRequests] : [])],
  });
  // For Entra ID the library also accepts the issuer of all organizations, and so tokens of any organization.
  if (new URL(found.serverMetadata().issuer).href !== server.href) {
    throw new IssuerUnavailable(`the metadata of ${settings.name} names another issuer`);
  }
  return found;
}

/** Issuers accept Basic unless their metadata says otherwise (OpenID Connect Core 1.0, section 9). */
function authenticateBy({ client_secret: secret }: IssuerSettings): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (supported.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** @throws {AttemptRefused} @throws {IssuerUnavailable} if the issuer cannot be reached, or `work` takes over five seconds. */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new IssuerUnavailable('took too long')), timeoutSeconds * 1000);
  try {
    return await Promise.race([work(), late.promise]);
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error;
    throw isUnreachable(error)
      ? new IssuerUnavailable('could not be reached', { cause: error })
      : new AttemptRefused('the answer was refused', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof oidc.ClientError) {
    const { cause } = error;
    return error.code === 'OAUTH_TIMEOUT' || (cause instanceof Response && cause.status >= 500);
  }
  return error instanceof TypeError && error.message === 'fetch failed';
}

type Claims = Record<string, unknown>;

/** Some issuers omit claims from ID tokens that they return when asked. */
function needsMore({ email_verified_claim, groups_claim }: IssuerSettings, claims: Claims): boolean {
  const wanted = ['email', email_verified_claim, ...(groups_claim === undefined ? [] : [groups_claim])];
  return wanted.some((name) => claims[name] === undefined);
}

/**
 * Takes the address and its verification from the same response, because two responses may be about different
 * addresses.
 */
function verifiedEmailOf({ email_verified_claim: claim }: IssuerSettings, answers: readonly Claims[]) {
  const speaking = answers.find((answer) => answer[claim] !== undefined);
  return speaking?.[claim] === true ? textOf(speaking.email, 254) : undefined;
}

function toIdentity(
  settings: IssuerSettings,
  claims: Claims & { iss: string; sub: string },
  email: string | undefined,
): Identity {
  const [firstName, lastName, picture] = [
    textOf(claims.given_name),
    textOf(claims.family_name),
    textOf(claims.picture),
  ];
  const groups = settings.groups_claim === undefined ? [] : [claims[settings.groups_claim]].flat();
  return {
    issuer: claims.iss,
    subject: claims.sub,
    ...(email !== undefined && { email: asciiLowerCase(email) }),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(picture?.startsWith('https://') && { picture }),
    roles: rolesOf(
      settings,
      groups.filter((group) => typeof group === 'string'),
    ),
  };
}

/** Longer text counts as absent, and so does text with NUL, which Postgres cannot store. */
function textOf(value: unknown, mostCharacters = 2000): string | undefined {
  const isText = typeof value === 'string' && value !== '' && value.length <= mostCharacters && !value.includes('\0');
  return isText && value.isWellFormed() ? value : undefined;
}
