import type { IncomingMessage } from 'node:http';
import { cookiesNamed } from './cookies.ts';

/** `__Host-` limits it to this host: no sibling host can set or overwrite it (RFC 6265bis, section 4.1.3.2). */
const name = '__Host-sluice';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Undefined if there is none, or two, because then one of them is not ours. */
export function readSignInCookie(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  return onlyCookieNamed(request, name);
}

/** A header that sets the cookie. */
export function giveSignInCookie(secret: string, maxAgeSeconds: number): Record<string, string> {
  return { 'Set-Cookie': `${name}=${secret}; Max-Age=${maxAgeSeconds}; ${attributes}` };
}

/** A header that deletes the cookie. */
export const takeSignInCookie = { 'Set-Cookie': `${name}=; Max-Age=0; ${attributes}` };

const attemptName = '__Host-sluice-attempt';

/**
 * Lax, because the browser must send it when an issuer, which is another site, redirects back. It signs nobody in by
 * itself.
 */
export function giveAttemptCookie(value: string, maxAgeSeconds: number): Record<string, string> {
  const lax = attributes.replace('Strict', 'Lax');
  return { 'Set-Cookie': `${attemptName}=${value}; Max-Age=${maxAgeSeconds}; ${lax}` };
}

export function readAttemptCookie(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  return onlyCookieNamed(request, attemptName);
}

function onlyCookieNamed(request: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const [value, ...others] = cookiesNamed(request, name);
  return others.length === 0 ? value : undefined;
}
