/** What a Proxy lets its callers do; undefined allows everything. */
export interface AllowedCalls {
  allowedMethods?: readonly string[] | undefined;
  allowedPaths?: readonly string[] | undefined;
}

/** The member that refuses the call, or undefined. `path` is what follows the address of the Proxy, without the query. */
export function refusedBy(
  { allowedMethods, allowedPaths }: AllowedCalls,
  { method, path }: { method: string; path: string },
): 'allowed_methods' | 'allowed_paths' | undefined {
  if (allowedMethods && !allowsMethod(allowedMethods, method)) return 'allowed_methods';
  return allowedPaths && !allowsPath(allowedPaths, path) ? 'allowed_paths' : undefined;
}

/** Without regard to case. HEAD is a method of its own. */
function allowsMethod(allowed: readonly string[], method: string): boolean {
  const upper = method.toUpperCase();
  return allowed.some((one) => one.toUpperCase() === upper);
}

/**
 * Servers read a path differently: some decode it twice, take `\` as `/`, or drop parameters behind `;` and empty
 * segments before they resolve `..`. So the path must be covered as it was sent, and no reading of it may climb out of
 * the entry that covers it. Each climb counts in whatever reading it appears, and each segment that could vanish in
 * some reading, or hold several, counts as one at most. A server that reads part of the path in one way and part in
 * another is then below the entry, too.
 */
export function allowsPath(allowed: readonly string[], path: string): boolean {
  const sent = path === '' ? '/' : path;
  if (!sent.startsWith('/') || readingsOf(sent).some((reading) => invalid.test(reading))) return false;
  const segments = sent.slice(1).split('/');
  const depths = segments.map(depthOf); // once for all entries
  return allowed.some((entry) => covers(entry, segments, depths));
}

/** NUL ends the path for some servers; the others begin overlong forms of `.` and `/` in UTF-8. */
const invalid = /[\0\xc0\xc1]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]/;

function covers(entry: string, segments: readonly string[], depths: readonly number[]): boolean {
  if (entry === '/') return staysBelow(depths, 0, 0);
  const parts = entry.slice(1).split('/');
  const last = parts.pop() ?? '';
  const at = parts.length;
  if (!parts.every((part, i) => part === segments[i])) return false;
  if (last === '*') return staysBelow(depths, at, 1);
  if (!last.endsWith('*')) return segments[at] === last && staysBelow(depths, at + 1, 0);
  const begins = segments[at]?.startsWith(last.slice(0, -1)) === true;
  return begins && (depths[at] ?? 0) > 0 && staysBelow(depths, at + 1, 0);
}

/** Whether the segments from `start` on stay at or below their beginning in every reading, and end at least this deep. */
function staysBelow(depths: readonly number[], start: number, leastDepth: number): boolean {
  let depth = 0;
  for (let i = start; i < depths.length; i++) {
    depth += depths[i] ?? 0;
    if (depth < 0) return false;
  }
  return depth >= leastDepth;
}

/** How much deeper a segment leads at least: 1; 0 if it could vanish; less for each climb that it holds in some reading. */
function depthOf(segment: string): number {
  if (plain.test(segment)) return segment === '' || segment === '.' ? 0 : segment === '..' ? -1 : 1;
  let least = 1;
  for (const reading of readingsOf(segment)) {
    const parts = reading.split(/[/\\]/).map((part) => part.replace(/;.*$/s, '').trim());
    const climbs = parts.filter((part) => part === '..').length;
    const canVanish = climbs > 0 || parts.every((part) => part === '' || part === '.');
    least = Math.min(least, canVanish ? -climbs : 1);
  }
  return least;
}

/** Reads the same everywhere. */
const plain = /^[\w.~!$&'()*+,=:@-]*$/;

/** As it was sent, and percent-decoded once and twice, as far as they differ. */
function readingsOf(text: string): string[] {
  const once = decode(text);
  if (once === text) return [text];
  const twice = decode(once);
  return twice === once ? [text, once] : [text, once, twice];
}

/** Byte for byte, because every character may be part of the next escape. */
function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Why this cannot be an entry of `allowed_paths`, if it cannot. */
export function faultInAllowedPath(entry: string): string | undefined {
  if (!entry.startsWith('/')) return 'must begin with /';
  if (!/^[\x21-\x7e]*$/.test(entry) || /[?#\\]/.test(entry))
    return 'must be a percent-encoded path without query or backslash';
  if (entry.slice(0, -1).includes('*')) return 'may have * only as its last character';
  if (entry === '/' || entry === '/*') return undefined;
  const segments = entry.slice(1).split('/');
  if (segments.some((segment) => segment !== '*' && depthOf(segment) < 1))
    return 'must not have an empty segment, a "." segment or a ".." segment';
  return undefined;
}
