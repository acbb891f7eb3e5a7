/** A row, or why the line is none. */
type Line = { row: Record<string, unknown>; fault?: never } | { row?: never; fault: string };

/**
 * A line of an export or of proofs. A line that readers of JSON may understand in more than one way is refused: what is
 * verified must be what everybody reads.
 */
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
      return { fault: 'holds a number that not every reader can hold' };
  }
  if (names !== countNames(value)) return { fault: 'names a member twice' };
  return { row: value as Record<string, unknown> };
}

/** Strings, with the colon that makes one the name of a member, and numbers so long that a double may not hold them. */
const tokens = /"(?:[^"\\]|\\.)*"(?:\s*(:))?|(\d[\d.eE+-]{15,})/g;

/** Whether it says no more than the double that it is read as. */
function isExact(number: string): boolean {
  return significant(number) === significant(String(Number(number)));
}

/** The digits without zeros around them, and the place of the last one, so that 1e30, 1.0e30 and all its zeros are one. */
function significant(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** Of this value and all within it: JSON.parse keeps one of those that are equal. */
function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce<number>((sum, member) => sum + countNames(member), own);
}
