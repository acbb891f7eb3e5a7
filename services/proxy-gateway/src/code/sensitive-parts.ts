import type { Json } from '@sluice/vault';
import { mostMembers } from './console/secrets.ts';

/** Values that the code sent in a call of the client to store: the log must not show them, even if the call fails. */
export function storedIn(operation: string, payload: Json): unknown[] {
  switch (operation) {
    case 'tokens.update':
      return isObject(payload) ? [dataOf(payload.patch)] : [];
    case 'tokens.create':
      return [dataOf(payload)];
    case 'tokenize':
      return [payload];
    default:
      return [];
  }
}

/** The parts of a response that the log must not show. */
export function revealedBy(operation: string, payload: Json, answer: unknown): unknown[] {
  return operation === 'detokenize' ? revealedIn(payload, answer) : [dataOf(answer)];
}

/** If a response has too many values, some of them suffice, because then everything printed is withheld. */
function revealedIn(payload: Json, answer: unknown): unknown[] {
  const revealed = leavesOf(answer);
  if (revealed.length > mostMembers) return revealed;
  const before = new Set(leavesOf(payload));
  return revealed.filter((leaf) => !before.has(leaf));
}

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
export const dataOf = (value: unknown) => (isObject(value) ? value.data : undefined);
