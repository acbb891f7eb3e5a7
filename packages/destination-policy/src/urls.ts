const maxLength = 2048;
const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i;

/**
 * Refuses faults that WHATWG silently repairs (spaces, control characters, backslashes, missing or extra slashes,
 * invisible characters in the host), because other parsers repair them differently.
 */
export function readUrl(text: string): { ok: true; url: URL } | { ok: false; reason: string } {
  const reason = findFault(text);
  if (reason) return { ok: false, reason };
  const url = URL.parse(text);
  if (!url) return { ok: false, reason: 'must be a valid URL' };
  // Nobody listens on port 0, and some software reads it as a missing port.
  return url.port === '0' ? { ok: false, reason: 'must not have the port 0' } : { ok: true, url };
}

function findFault(text: string): string | undefined {
  if (text.length === 0 || text.length > maxLength) return `must have 1 to ${maxLength} characters`;
  if (/[\s\\\p{Cc}]/u.test(text) || !text.isWellFormed()) {
    return 'must not contain spaces, control characters or backslashes';
  }
  const [, authority] = absolute.exec(text) ?? [];
  if (authority === undefined) return 'must be an absolute URL such as https://api.example.com/path';
  if (authority.includes('@')) return 'must not contain user information';
  if (/\p{Cf}/u.test(authority)) return 'must not contain invisible characters in its host';
  if (text.includes('#')) return 'must not contain a fragment';
  return undefined;
}
