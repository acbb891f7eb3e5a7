/** Cached for each object, because a small body can name a large object repeatedly. */
const lengths = new WeakMap<object, number>();

/** Length within other text, in UTF-16 code units. */
export function textLengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return value === null || value === undefined ? 0 : `${value}`.length;
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = JSON.stringify(value).length;
  lengths.set(value, length);
  return length;
}
