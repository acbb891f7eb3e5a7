import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * A look-up that spreads connections over all addresses of a name. The system sorts the addresses of one subnet (RFC
 * 6724 section 6, rule 9), so without it every connection would try the same replica first.
 */
export const spreadLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const shuffled = shuffle(addresses);
    const [first] = shuffled;
    if (options.all || !first) callback(null, shuffled);
    else callback(null, first.address, first.family);
  });
};

/** Fisher–Yates shuffle into a new list. */
export function shuffle(addresses: readonly LookupAddress[], random: () => number = Math.random): LookupAddress[] {
  const shuffled: LookupAddress[] = [];
  for (const address of addresses) {
    const place = Math.floor(random() * (shuffled.length + 1));
    const displaced = shuffled[place];
    shuffled[place] = address;
    if (displaced) shuffled.push(displaced);
  }
  return shuffled;
}
