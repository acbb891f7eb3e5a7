import { createHmac } from 'node:crypto';
import { generateSecret, isWellFormedSecret } from '@sluice/credentials';

export const attemptSeconds = 600;

/**
 * A sign-in at an issuer that a browser has begun. Only the browser's cookie is kept. State, nonce and verifier are derived from
 * it, so they fit only this browser, this issuer and these ten minutes (RFC 9700, section 4.7).
 */
export interface Attempt {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The value of the cookie: a secret, and when it ends. */
export function randomAttempt(now = Date.now()): string {
  return `${generateSecret()}.${now + attemptSeconds * 1000}`;
}

/** Undefined for what is no such cookie, and after its end. */
export function attemptOf(cookie: string | undefined, issuerName: string, now = Date.now()): Attempt | undefined {
  const [secret = '', end = ''] = cookie?.split('.') ?? [];
  if (!isWellFormedSecret(secret) || !/^\d{1,15}$/.test(end) || Number(end) <= now) return undefined;
  const derive = (use: string) =>
    createHmac('sha256', secret).update(`${use} ${end} ${issuerName}`).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
