import { type FieldErrors, nearMisses } from '@sluice/problems';
import { isObject, type Json } from '../../json.ts';
import { readTokenUse } from './read-token-use.ts';
import { tokenUseSchema } from './token-use.schema.ts';
import type { TokenUse } from './token-use.ts';

/** The member `use` of a body, in which null counts as absent. */
export function withoutNullsInUse(use: Json): Json {
  if (!isObject(use)) return use;
  return Object.fromEntries(Object.entries(use).filter(([, member]) => member !== null));
}

const members = { writable: Object.keys(tokenUseSchema.properties), readOnly: [] };

/** By path from the token. */
export function misspeltInUse(use: unknown): FieldErrors {
  const faults = Object.entries(isObject(use) ? nearMisses(use, members) : {});
  return Object.fromEntries(faults.map(([name, messages]) => [`use.${name}`, messages]));
}

/** {@link readTokenUse} for a member that may be absent. */
export function readUseMember(
  wire: TokenUse | null | undefined,
  now: Date,
): { use: TokenUse | null; faults: FieldErrors } {
  const read = wire ? readTokenUse(wire, now) : { use: null };
  return 'faults' in read ? { use: null, faults: read.faults } : { use: read.use, faults: {} };
}
