const longestPrefix = 6;

type Range = readonly [from: number, to: number];

/**
 * First digits of card numbers, as ISO/IEC 7812 registers and the networks publish them. A range that networks share
 * belongs to the one that issued the number: 62 is UnionPay's, although Discover accepts it. Ranges of other networks
 * in between, such as Elo's and Verve's below 51, have no brand here.
 */
const ranges: Readonly<Record<string, readonly Range[]>> = {
  visa: [[4, 4]],
  mastercard: [
    [51, 55],
    [2221, 2720],
  ],
  amex: [
    [34, 34],
    [37, 37],
  ],
  discover: [
    [6011, 6011],
    [644, 649],
    [65, 65],
  ],
  diners: [
    [300, 305],
    [3095, 3095],
    [36, 36],
    [38, 39],
  ],
  jcb: [[3528, 3589]],
  unionpay: [
    [62, 62],
    [81, 81],
  ],
  maestro: [
    [500000, 504174],
    [504176, 506098],
    [56, 58],
    [6304, 6304],
    [6390, 6390],
    [67, 67],
  ],
};

/** @param digits of a complete card number. Undefined if none of the networks above issues it. */
export function cardBrandOf(digits: string): string | undefined {
  if (!/^\d{12,19}$/.test(digits)) return undefined;
  const prefix = Number(digits.slice(0, longestPrefix));
  return Object.keys(ranges).find((brand) => ranges[brand]?.some((range) => isWithin(prefix, range)));
}

/** Bounds with fewer digits cover everything that begins with them: 51 to 55 is 510000 to 559999. */
function isWithin(prefix: number, [from, to]: Range): boolean {
  const scale = 10 ** (longestPrefix - String(from).length);
  return prefix >= from * scale && prefix < (to + 1) * scale;
}
