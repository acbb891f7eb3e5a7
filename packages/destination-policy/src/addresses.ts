import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/** As sockets, resolvers and WHATWG hosts write it; undefined for names and short notations (`127.1`). */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIP(bare) === 0) return undefined;
  const [withoutZone = ''] = bare.split('%');
  return ipaddr.parse(withoutZone);
}

export function parseRange(text: string): AddressRange | undefined {
  const [base = '', bits, ...rest] = text.split('/');
  const address = base.includes('%') || base.startsWith('[') ? undefined : parseAddress(base);
  if (!address || rest.length > 0) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, width];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= width ? [address, Number(bits)] : undefined;
}

export function isInRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}

function ranges(...texts: string[]): AddressRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (!range) throw new TypeError(`${text} is not a range`);
    return range;
  });
}

export const loopbackRanges = ranges('127.0.0.0/8', '::1');
/** RFC 1918 and RFC 4193. */
export const privateRanges = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7');

/** Addresses at which clouds hand out credentials: all of link-local, and others. */
const metadataRanges = ranges(
  '169.254.0.0/16',
  '168.63.129.16', // Azure
  '100.100.100.200', // Alibaba Cloud
  '192.0.0.192', // Oracle Cloud, its older stack
  'fd00:ec2::/32', // AWS: instance metadata at ::254, the credentials of pods at ::23
  'fd20:ce::254', // Google Cloud
  'fd00:42::42', // Scaleway
  'fe80::a9fe:a9fe', // OpenStack
);

/** IPv6 addresses outside this range are not assigned for global unicast (RFC 4291 section 2.4, IANA registry). */
const globalUnicast = ranges('2000::/3');

export function isMetadata(address: Address): boolean {
  return isInRanges(address, metadataRanges);
}

export function isGloballyRoutable(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isInRanges(address, globalUnicast));
}

interface Carrier {
  within: AddressRange[];
  offsets: number[][];
  inverted?: number[];
}

/** Address forms that carry an IPv4 address, and its possible positions in the 16 bytes. */
const carriers: Carrier[] = [
  // IPv4-compatible, IPv4-mapped (RFC 4291 section 2.5.5), IPv4-translated (RFC 7915), the well-known NAT64 prefix (RFC 6052)
  { within: ranges('::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96'), offsets: [[12, 13, 14, 15]] },
  // Local NAT64 prefixes (RFC 8215) may have any length, so the position of the address varies (RFC 6052 section 2.2)
  {
    within: ranges('64:ff9b:1::/48'),
    offsets: [
      [12, 13, 14, 15],
      [9, 10, 11, 12],
      [7, 9, 10, 11],
      [6, 7, 9, 10],
    ],
  },
  // 6to4 (RFC 3056)
  { within: ranges('2002::/16'), offsets: [[2, 3, 4, 5]] },
  // Teredo (RFC 4380): the server, and the client with its bits inverted
  { within: ranges('2001::/32'), offsets: [[4, 5, 6, 7]], inverted: [12, 13, 14, 15] },
];

/** RFC 5214 section 6.1: under any prefix, the interface id is 0000:5efe or 0200:5efe and the IPv4 address. */
const isatap: Carrier = { within: [], offsets: [[12, 13, 14, 15]] };

function isIsatap(bytes: readonly number[]): boolean {
  const [flags = 0, zero, ...oui] = bytes.slice(8, 12);
  return (flags | 2) === 2 && zero === 0 && oui[0] === 0x5e && oui[1] === 0xfe;
}

/** The IPv4 addresses at which traffic to this IPv6 address may end. */
export function embeddedAddresses(address: Address): Address[] {
  if (address.kind() === 'ipv4' || isInRanges(address, loopbackRanges)) return [];
  const bytes = address.toByteArray();
  const carrier = carriers.find(({ within }) => isInRanges(address, within)) ?? (isIsatap(bytes) ? isatap : undefined);
  if (!carrier) return [];
  const at = (offsets: number[], mask = 0) => offsets.map((offset) => (bytes[offset] ?? 0) ^ mask);
  const found = carrier.offsets.map((offsets) => at(offsets));
  if (carrier.inverted) found.push(at(carrier.inverted, 0xff));
  // An address in 0.0.0.0/8 means a wrong position, unless it is the only one.
  const used = found.filter(([first]) => first !== 0);
  return (used.length > 0 ? used : found).map((octets) => new ipaddr.IPv4(octets));
}
