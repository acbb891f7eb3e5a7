import { createHmac } from 'node:crypto';
import { generateSecret, isWellFormedSecret } from '@sluice/credentials';

export const attemptSeconds = 600;

/**
 * A sign-in at an issuer, begun in a browser. Stored only in the browser's cookie. State, nonce and verifier are
 * derived from it, so they are valid only for this browser, this issuer and these ten minutes (RFC 9700, section 4.7).
 */
export interface Attempt {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The value of the cookie: a secret and its expiry. */
export function randomAttempt(now = Date.now()): string {
  return `${generateSecret()}.${now + attemptSeconds * 1000}`;
}

/** Undefined for any other cookie, and after its expiry. */
export function attemptOf(cookie: string | undefined, issuerName: string, now = Date.now()): Attempt | undefined {
  const [secret = '', end = ''] = cookie?.split('.') ?? [];
  if (!isWellFormedSecret(secret) || !/^\d{1,15}$/.test(end) || Number(end) <= now) return undefined;
  const derive = (use: string) =>
    createHmac('sha256', secret).update(`${use} ${end} ${issuerName}`).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
