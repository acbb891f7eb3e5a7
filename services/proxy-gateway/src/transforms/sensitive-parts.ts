import type { Json } from '@sluice/vault';

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

/** The answer less what was in the payload before, which is no secret for having been passed along. */
function revealedIn(payload: Json, answer: unknown): unknown[] {
  const before = new Set(leavesOf(payload));
  return leavesOf(answer).filter((leaf) => !before.has(leaf));
}

function leavesOf(value: unknown): unknown[] {
  const leaves: unknown[] = [];
  const left = [value];
  while (left.length > 0) {
    const item = left.pop();
    if (typeof item === 'object' && item !== null) for (const member of Object.values(item)) left.push(member);
    else leaves.push(item);
  }
  return leaves;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const dataOf = (value: unknown) => (isObject(value) ? value.data : undefined);
