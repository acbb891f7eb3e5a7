/** Of objects, because a small body can name a large one again and again. */
const lengths = new WeakMap<object, number>();

/** How many UTF-16 code units a value has as text among text. The text of an object is made once. */
export function textLengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return value === null || value === undefined ? 0 : `${value}`.length;
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = JSON.stringify(value).length;
  lengths.set(value, length);
  return length;
}
