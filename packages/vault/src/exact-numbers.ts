import { validationFailed } from '@sluice/problems';
import { formatPath } from './expressions/path.ts';
import { findLeaf, isNestedDeeperThan, type Json } from './json.ts';

export const inexact = 'has a number that cannot be stored exactly; send it as text';

/** False for 1e400, and for integers beyond ±(2^53 − 1): some of them stand for several integers. */
export function isExact(number: number): boolean {
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
}

/** Returns false if JSON.parse may have changed a number. Does not recurse. */
export function hasExactNumbers(value: unknown): boolean {
  return inexactIn(value) === undefined;
}

function inexactIn(value: unknown): number | undefined {
  const left = [value];
  while (left.length > 0) {
    const item = left.pop();
    if (typeof item === 'number' && !isExact(item)) return item;
    if (typeof item !== 'object' || item === null) continue;
    for (const member of Array.isArray(item) ? item : Object.values(item)) left.push(member);
  }
  return undefined;
}

/** Deeper ones are named by the member at the top. */
const deepestPath = 100;

/** `name` is the member that has the value. @throws {ServiceError} `validation_failed`, naming the member of the number. */
export function requireExactNumbers(name: string, value: Json): void {
  const number = inexactIn(value);
  if (number === undefined) return;
  const path = isNestedDeeperThan(deepestPath, value) ? [] : (findLeaf(value, number) ?? []);
  throw validationFailed({ [formatPath([name, ...path]).slice('$.'.length)]: [inexact] });
}
