import type { Json } from '@sluice/vault';
import { mostMembers } from './console/secrets.ts';

/** What of a call of the client and its answer the log must not show. */
export function sensitiveParts(operation: string, payload: Json, answer: unknown): unknown[] {
  switch (operation) {
    case 'detokenize':
      return revealedIn(payload, answer);
    case 'tokens.retrieve':
      return [dataOf(answer)];
    case 'tokens.update':
      return [isObject(payload) ? dataOf(payload.patch) : undefined, dataOf(answer)];
    case 'tokens.create':
      return [dataOf(payload), dataOf(answer)];
    default:
      return [payload];
  }
}

/**
 * The answer less what was in the payload before, which is no secret for having been passed along. Of an answer with more
 * values than the console is cleaned of only so many, with which nothing that is printed is shown.
 */
function revealedIn(payload: Json, answer: unknown): unknown[] {
  const revealed = leavesOf(answer);
  if (revealed.length > mostMembers) return revealed;
  const before = new Set(leavesOf(payload));
  return revealed.filter((leaf) => !before.has(leaf));
}

/** The first of them, if they are too many to be looked for. */
function leavesOf(value: unknown): unknown[] {
  const leaves: unknown[] = [];
  const left = [value];
  while (left.length > 0 && leaves.length <= mostMembers) {
    const item = left.pop();
    if (typeof item !== 'object' || item === null) leaves.push(item);
    else if (!Array.isArray(item)) left.push(...Object.values(item).slice(0, mostMembers + 1));
    else for (let at = 0; at < item.length && at <= mostMembers; at += 1) left.push(item[at]);
  }
  return leaves;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const dataOf = (value: unknown) => (isObject(value) ? value.data : undefined);
