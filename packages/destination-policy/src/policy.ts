import type { LookupFunction } from 'node:net';
import { type Address, embeddedAddresses, isGloballyRoutable, isMetadata, parseAddress } from './addresses.ts';
import { type Entries, parseEntries } from './entries.ts';
import { checkedLookup, type Resolver } from './lookup.ts';
import { isInternal, isLocalhost, isName, isSingleLabel, withoutRootDot } from './names.ts';
import { readUrl } from './urls.ts';

export interface DestinationRules {
  schemes: readonly string[];
  /** Addresses, CIDR ranges, host names, patterns (`*.example.com`), `loopback`, `private`, `single-label`. */
  allow: readonly string[];
  deny: readonly string[];
  resolve?: Resolver;
}

export type UrlVerdict = { ok: true; url: URL } | { ok: false; reason: string };

export interface DestinationPolicy {
  /**
   * Checks a configured URL, without resolving names: strictly well-formed, with an allowed scheme and host. The reason
   * is public, completes "destination_url …", and ends with the setting that decides.
   */
  checkUrl(text: string): UrlVerdict;
  /** False for anything that is not an address. */
  checkAddress(address: string, hostname?: string): boolean;
  /** For logs: why `checkAddress` is false, with the setting that decides. Undefined if it is true. */
  whyDenied(address: string, hostname?: string): string | undefined;
  /** Fails with {@link DestinationDeniedError} if any resolved address is denied. Needs no `this`. */
  lookup: LookupFunction;
  /** `lookup` with this resolver, unless the rules name one. */
  lookupBy(resolve: Resolver): LookupFunction;
}

type Verdict = 'allowed' | 'metadata' | 'denied' | 'closed';

/** @throws {Error} that names the setting and the invalid entry. */
export function destinationPolicy(rules: DestinationRules): DestinationPolicy {
  const schemes = parseSchemes(rules.schemes);
  const allow = parseEntries('DESTINATION_ALLOW', rules.allow);
  const deny = parseEntries('DESTINATION_DENY', rules.deny);

  function whyDenied(text: string, hostname?: string): string | undefined {
    const address = parseAddress(text);
    if (!address) return 'it is not an address';
    const name = hostname === undefined || parseAddress(hostname) ? undefined : withoutRootDot(hostname);
    const ofName = name === undefined ? 'allowed' : judgeName(name, allow, deny);
    if (ofName !== 'allowed') return reasons[ofName];
    const verdict = judgeAddress(address, allow, deny, name !== undefined && allow.hasName(name));
    return verdict === 'allowed' ? undefined : reasons[verdict];
  }

  function checkUrl(text: string): UrlVerdict {
    const read = readUrl(text);
    if (!read.ok) return read;
    const { protocol, hostname } = read.url;
    if (!schemes.has(protocol)) {
      const allowed = [...schemes].map((scheme) => scheme.slice(0, -1)).join(', ');
      return refused(
        `has the scheme ${protocol.slice(0, -1)}, but this installation allows only ${allowed} (DESTINATION_SCHEMES)`,
      );
    }
    const address = parseAddress(hostname);
    if (!address && !isName(withoutRootDot(hostname))) return refused('must have a valid host name');
    const verdict = address
      ? judgeAddress(address, allow, deny, false)
      : judgeName(withoutRootDot(hostname), allow, deny);
    return verdict === 'allowed' ? read : refused(`must not name ${hostname}: ${reasons[verdict]}`);
  }

  return {
    checkUrl,
    checkAddress: (address, hostname) => whyDenied(address, hostname) === undefined,
    whyDenied,
    lookup: checkedLookup(whyDenied, rules.resolve),
    lookupBy: (resolve) => checkedLookup(whyDenied, rules.resolve ?? resolve),
  };
}

function judgeAddress(address: Address, allow: Entries, deny: Entries, isNameAllowed: boolean): Verdict {
  const embedded = embeddedAddresses(address);
  const all = [address, ...embedded];
  if (all.some(isMetadata)) return 'metadata';
  if (all.some(deny.hasAddress)) return 'denied';
  if (isNameAllowed) return 'allowed';
  if (embedded.length === 0) return allow.hasAddress(address) || isGloballyRoutable(address) ? 'allowed' : 'closed';
  // A translated form such as NAT64 must be allowed itself, and so must the embedded address.
  const isOpen =
    allow.hasAddress(address) && embedded.every((inner) => judgeAddress(inner, allow, deny, false) === 'allowed');
  return isOpen ? 'allowed' : 'closed';
}

function judgeName(name: string, allow: Entries, deny: Entries): Verdict {
  if (deny.hasName(name)) return 'denied';
  if (deny.loopback && isLocalhost(name)) return 'denied';
  if (deny.singleLabel && isSingleLabel(name)) return 'denied';
  if (allow.hasName(name)) return 'allowed';
  if (isLocalhost(name)) return allow.loopback ? 'allowed' : 'closed';
  if (isSingleLabel(name)) return allow.singleLabel ? 'allowed' : 'closed';
  return isInternal(name) ? 'closed' : 'allowed';
}

const reasons = {
  metadata: 'cloud metadata addresses are never allowed',
  denied: 'this installation forbids it (DESTINATION_DENY)',
  closed: 'it is not a public host, and this installation does not allow it (DESTINATION_ALLOW)',
};

function refused(reason: string): UrlVerdict {
  return { ok: false, reason };
}

function parseSchemes(schemes: readonly string[]): Set<string> {
  for (const scheme of schemes) {
    if (scheme !== 'http' && scheme !== 'https')
      throw new Error(`DESTINATION_SCHEMES: "${scheme}" is neither http nor https`);
  }
  if (schemes.length === 0) throw new Error('DESTINATION_SCHEMES: at least one of http and https is needed');
  return new Set(schemes.map((scheme) => `${scheme}:`));
}
