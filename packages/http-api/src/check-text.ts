import type { FieldErrors } from '@sluice/problems';
import { memberPath } from './member-path.ts';

const deepest = 64;
const mostFaults = 100;

/**
 * Finds what Postgres cannot store (NUL characters, lone surrogates) and endless nesting. Top-level members named by
 * `opaque` are only passed on and may hold any text. @returns at most 100 faults.
 */
export function checkText(value: unknown, opaque: readonly string[] = []): FieldErrors {
  // Without a prototype, so that `__proto__` is an ordinary member.
  const errors: FieldErrors = Object.create(null);
  const path: (string | number)[] = [];
  let faults = 0;

  function note(at: readonly (string | number)[], fault: string | undefined): void {
    if (fault === undefined) return;
    errors[memberPath(at)] = [fault];
    faults += 1;
  }

  function visit(item: unknown): void {
    if (typeof item === 'string') note(path, faultIn(item));
    else if (Array.isArray(item)) visitMembers(item.entries());
    else if (typeof item === 'object' && item !== null) visitMembers(Object.entries(item));
  }

  function visitMembers(members: Iterable<[string | number, unknown]>): void {
    if (path.length >= deepest) {
      note(path.slice(0, 3), `is nested deeper than ${deepest} levels`);
      return;
    }
    for (const [key, member] of members) {
      if (faults >= mostFaults) return;
      if (path.length === 0 && typeof key === 'string' && opaque.includes(key)) continue;
      const fault = typeof key === 'string' ? faultIn(key) : undefined;
      note(path, fault && `has a member whose name ${fault}`);
      path.push(key);
      visit(member);
      path.pop();
    }
  }

  visit(value);
  return errors;
}

function faultIn(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  if (!text.isWellFormed()) return 'contains a lone surrogate';
  return undefined;
}
