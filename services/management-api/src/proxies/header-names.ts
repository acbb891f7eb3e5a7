/** RFC 9110 section 5.6.2. */
const form = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function isHeaderName(text: string): boolean {
  return form.test(text);
}

/** They frame the message, belong to one connection, or are set by the gateway. */
const ofTheGateway = new Set([
  ...['host', 'expect', 'content-length', 'transfer-encoding', 'cdn-loop', 'connection', 'keep-alive', 'te', 'trailer'],
  ...['upgrade', 'http2-settings', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  // A part or a coding of the response would pass what was written to hide its values
  ...['range', 'accept-encoding'],
]);

const notToSet = new Set(['if-range', 'content-encoding', 'content-type']);

/** Why expressions are not replaced in this header, if they are not. `ownPrefix` is that of Sluice's own headers. */
export function faultInSearchedHeader(name: string, ownPrefix: string): string | undefined {
  if (!isHeaderName(name)) return 'must be a name of a header';
  const lower = name.toLowerCase();
  if (lower.startsWith(`${ownPrefix.toLowerCase()}-`)) return `must not name a header of Sluice (${ownPrefix}-…)`;
  return ofTheGateway.has(lower) ? `must not name ${name}, which the gateway sets or removes` : undefined;
}

/** Why a Proxy may not set this header, if it may not. */
export function faultInSetHeader(name: string, ownPrefix: string): string | undefined {
  const fault = faultInSearchedHeader(name, ownPrefix);
  if (fault) return fault;
  const lower = name.toLowerCase();
  if (lower.startsWith('proxy-')) return 'must not be a header for proxies (Proxy-…)';
  return notToSet.has(lower) ? 'must not be set, because it describes the body or a part of the response' : undefined;
}

/** Names that differ only in case from one before them. */
export function repeatedNames(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const lower = name.toLowerCase();
    const isRepeated = seen.has(lower);
    seen.add(lower);
    return isRepeated;
  });
}
