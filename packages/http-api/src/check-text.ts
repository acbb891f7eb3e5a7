import type { FieldErrors } from '@sluice/problems';
import { memberPath } from './member-path.ts';

const deepest = 64;

/**
 * What Postgres cannot store or a reader cannot survive: NUL characters, lone surrogates, and nesting without end.
 * `opaque` names top-level members that are only passed on and so may hold any text.
 */
export function checkText(value: unknown, opaque: readonly string[] = []): FieldErrors {
  const errors: FieldErrors = {};
  const visit = (item: unknown, path: readonly (string | number)[]): void => {
    if (typeof item === 'string') {
      const fault = faultIn(item);
      if (fault) errors[memberPath(path)] = [fault];
    } else if (typeof item === 'object' && item !== null) {
      if (path.length >= deepest) {
        errors[memberPath(path.slice(0, 3))] = [`is nested deeper than ${deepest} levels`];
        return;
      }
      for (const [key, member] of Object.entries(item)) {
        if (path.length === 0 && opaque.includes(key)) continue;
        const fault = Array.isArray(item) ? undefined : faultIn(key);
        if (fault) errors[memberPath(path)] = [`has a member whose name ${fault}`];
        visit(member, [...path, Array.isArray(item) ? Number(key) : key]);
      }
    }
  };
  visit(value, []);
  return errors;
}

function faultIn(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  if (!text.isWellFormed()) return 'contains a lone surrogate';
  return undefined;
}
