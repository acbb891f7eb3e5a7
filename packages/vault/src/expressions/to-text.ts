import type { Json } from '../json.ts';

/** A value as text among text: strings as they are, nothing for null, everything else as JSON. */
export function toText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
