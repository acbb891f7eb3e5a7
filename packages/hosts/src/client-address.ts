import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export const trustedProxySettings = {
  TRUSTED_PROXIES: {
    type: 'string',
    description:
      'Networks of the proxies in front of this service, as CIDRs, comma separated. Their X-Forwarded-For is used. If TRUSTED_PROXIES is not set, ' +
      'the address that connects counts as the address of the client',
  },
} as const;

/** Takes the last address that was not written by a trusted proxy, because a client may write any. @throws {Error} */
export function addressReader(trustedProxies = 'none'): (request: IncomingMessage) => string {
  const trusted = trustedProxies
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '' && text !== 'none')
    .map(toNetwork);
  const isTrusted = (address: Address) => trusted.some(([network, bits]) => isWithin(address, network, bits));
  return ({ socket, headers }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    let address = readAddress(socket.remoteAddress ?? '');
    while (address && isTrusted(address)) {
      const before = readAddress(forwarded.pop()?.trim() ?? '');
      if (!before) break;
      address = before;
    }
    return address?.toString() ?? 'unknown';
  };
}

/** Floods are counted by network: IPv4 /24, IPv6 /48. */
export function networkOf(address: string): string {
  return networkWith(address, { ipv4: 24, ipv6: 48 });
}

/** An IPv4 address, or an IPv6 /64, within which a client can choose any address. */
export function singleAddressOf(address: string): string {
  return networkWith(address, { ipv4: 32, ipv6: 64 });
}

function networkWith(address: string, bitsOf: { ipv4: number; ipv6: number }): string {
  const parsed = readAddress(address);
  if (!parsed) return address;
  const kind = parsed.kind();
  const cidr = `${parsed.toString()}/${bitsOf[kind]}`;
  const network = kind === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${bitsOf[kind]}`;
}

/** The form in which {@link addressReader} writes an address; undefined for any other text. */
export function canonicalAddress(text: string): string | undefined {
  return readAddress(text)?.toString();
}

/** IPv4 in IPv6 becomes IPv4. Short and octal forms are refused, because readers disagree about them. */
function readAddress(text: string): Address | undefined {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.process(text);
}

function toNetwork(text: string): [Address, number] {
  try {
    const [address, bits] = ipaddr.parseCIDR(text);
    return [address, bits];
  } catch (cause) {
    throw new Error(`TRUSTED_PROXIES: "${text}" is no network such as 10.0.0.0/8`, { cause });
  }
}

function isWithin(address: Address, network: Address, bits: number): boolean {
  if (address.kind() === 'ipv4')
    return network.kind() === 'ipv4' && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits);
  return network.kind() === 'ipv6' && (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits);
}
