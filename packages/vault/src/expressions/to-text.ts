import type { Json } from '../json.ts';

/** As written inside other text: a string unchanged, nothing for null, anything else as JSON. */
export function toText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
