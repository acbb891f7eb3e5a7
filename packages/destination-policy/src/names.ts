import { isIP } from 'node:net';

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Lower-case ASCII (RFC 5891) without the root dot; '' for text that cannot be a host. */
export function asName(host: string): string {
  if (/[/?#@:\\\s]/.test(host)) return '';
  const ascii = URL.parse(`http://${host}/`)?.hostname ?? '';
  // WHATWG reads `127.1` as an address; in a list an address must be written in full.
  if (isIP(ascii) !== 0) return '';
  return withoutRootDot(ascii);
}

export function withoutRootDot(host: string): string {
  const lower = host.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/** Lengths: RFC 1035 section 2.3.4. Underscores are allowed, because names in use have them. */
export function isName(name: string): boolean {
  return name.length > 0 && name.length <= 253 && name.split('.').every((part) => label.test(part));
}

export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

export function isSingleLabel(name: string): boolean {
  return !name.includes('.');
}

/** RFC 6762, and ICANN's `internal`. */
export function isInternal(name: string): boolean {
  return name.endsWith('.internal') || name.endsWith('.local');
}
