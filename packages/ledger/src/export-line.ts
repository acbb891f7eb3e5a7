import { leafHash } from './leaf.ts';

type Line = { row: Record<string, unknown>; fault?: never } | { row?: never; fault: string };

/** Refuses lines that JSON parsers may read differently, because every reader must see what was verified. */
export function parseLine(line: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: 'is no JSON object' };
  }
  if (typeof value !== 'object' || value === null) return { fault: 'is no JSON object' };
  let names = 0;
  for (const [, colon, number] of line.matchAll(tokens)) {
    if (colon !== undefined) names += 1;
    else if (number !== undefined && !isExact(number))
      return { fault: 'holds a number that some JSON parsers would change' };
  }
  if (names !== countNames(value)) return { fault: 'names a member twice' };
  return { row: value as Record<string, unknown> };
}

/** Undefined for a row without a version or a canonical form, which no genuine row lacks. */
export function hashOfRow(row: Record<string, unknown>): Buffer | undefined {
  if (!Number.isSafeInteger(row.leaf_version)) return undefined;
  try {
    return leafHash(row, Number(row.leaf_version));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Matches strings, with the colon after a member name, and numbers. */
const tokens = /"(?:[^"\\]|\\.)*"(?:\s*(:))?|(-?\d[\d.eE+-]*)/g;

/** A double holds it with all digits, and with its sign if it is zero. */
function isExact(number: string): boolean {
  const read = String(Number(number));
  return read === number || significant(read) === significant(number);
}

function significant(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = form.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return `${sign}0`;
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

const form = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** JSON.parse keeps one of duplicate names, so fewer names than in the text mean duplicates. */
function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce<number>((sum, member) => sum + countNames(member), own);
}
