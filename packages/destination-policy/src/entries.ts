import { type Address, type AddressRange, isInRanges, loopbackRanges, parseRange, privateRanges } from './addresses.ts';
import { asName, isName } from './names.ts';

export interface Entries {
  hasAddress(address: Address): boolean;
  hasName(name: string): boolean;
  loopback: boolean;
  singleLabel: boolean;
}

export function parseEntries(setting: string, entries: readonly string[]): Entries {
  const ranges: AddressRange[] = [];
  const names = new Set<string>();
  const suffixes: string[] = [];

  for (const entry of entries) {
    const text = entry.trim();
    const range = parseRange(text);
    const wildcard = text.startsWith('*.');
    const name = asName(wildcard ? text.slice(2) : text);
    if (text === 'loopback') ranges.push(...loopbackRanges);
    else if (text === 'private') ranges.push(...privateRanges);
    else if (text === 'single-label') continue;
    else if (range) ranges.push(range);
    else if (!isName(name)) throw new Error(invalidEntry(setting, entry));
    else if (wildcard) suffixes.push(`.${name}`);
    else names.add(name);
  }

  return {
    hasAddress: (address) => isInRanges(address, ranges),
    hasName: (name) => names.has(name) || suffixes.some((suffix) => name.endsWith(suffix)),
    loopback: entries.some((entry) => entry.trim() === 'loopback'),
    singleLabel: entries.some((entry) => entry.trim() === 'single-label'),
  };
}

function invalidEntry(setting: string, entry: string): string {
  return (
    `${setting}: "${entry}" is neither an address, a CIDR range, a host name, a pattern such as *.example.com, ` +
    'nor one of loopback, private, single-label'
  );
}
