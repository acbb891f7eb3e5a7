import type { DeclaredMember } from '@sluice/database';
import { isExact } from './exact-numbers.ts';
import type { Json, JsonObject } from './json.ts';

export interface CastValues {
  values: JsonObject;
  /** By the name of the member, without its value. */
  faults: Record<string, string[]>;
}

/**
 * Casts declared members to their declared type: numbers and booleans may be given as text, a string as number or
 * boolean. Null counts as absent; other members pass unchanged.
 */
export function castDeclared(declared: readonly DeclaredMember[], given: JsonObject): CastValues {
  const values = new Map<string, Json>(Object.entries(given));
  const faults = new Map<string, string[]>();
  for (const { name, type, optional } of declared) {
    const value = values.get(name) ?? null;
    const cast = value === null ? undefined : casts[type](value);
    if (cast !== undefined) values.set(name, cast);
    else if (value !== null) faults.set(name, [`must be a ${type}`]);
    else if (optional) values.delete(name);
    else faults.set(name, ['is required']);
  }
  return { values: Object.fromEntries(values), faults: Object.fromEntries(faults) };
}

const casts: Record<DeclaredMember['type'], (value: Json) => Json | undefined> = {
  string(value) {
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  },
  boolean(value) {
    if (typeof value === 'boolean') return value;
    return value === 'true' || value === 'false' ? value === 'true' : undefined;
  },
  number(value) {
    if (typeof value === 'number') return value;
    const isNumber = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
    // A long account number must not become another one
    return isNumber && isExact(Number(value)) ? Number(value) : undefined;
  },
};
