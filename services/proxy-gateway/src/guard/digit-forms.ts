/** Digits, alone or in groups. */
const digits = /^\d+(?:[ -]\d+)*$/;

const leastDigits = 6;

/** Groups that are in use and not all of one size: American Express, Diners, social security, telephone. */
const unequal = [
  [4, 6, 5],
  [4, 6, 4],
  [3, 2, 4],
  [3, 3, 4],
];

/** Card numbers and the like, as they are shown to people. Of other texts there are none. */
export function digitForms(text: string): string[] {
  if (!digits.test(text)) return [];
  const bare = text.replaceAll(/[ -]/g, '');
  const count = bare.length;
  if (count < leastDigits) return [];
  const groupings = [
    ...[2, 3, 4, 5].map((size) => sizesOf(count, size)),
    sizesOf(count, 3).reverse(),
    ...unequal.filter((sizes) => sizes.reduce((sum, size) => sum + size, 0) === count),
  ];
  return [bare, ...groupings.flatMap((sizes) => [' ', '-'].map((separator) => grouped(bare, sizes, separator)))];
}

/** Groups of one size from the left; the last one may be shorter. */
function sizesOf(count: number, size: number): number[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => Math.min(size, count - i * size));
}

function grouped(bare: string, sizes: readonly number[], separator: string): string {
  const groups: string[] = [];
  let start = 0;
  for (const size of sizes) {
    groups.push(bare.slice(start, start + size));
    start += size;
  }
  return groups.join(separator);
}
