import { ServiceError } from '@sluice/problems';

/** Call before parsing them. @throws {ServiceError} 400 where the invocation exceeds its limit. */
export function spendExpressions(invocation: { expressions: number }, count: number, most: number): void {
  invocation.expressions += count;
  if (invocation.expressions <= most) return;
  throw new ServiceError(
    'bad_request',
    `One invocation may have at most ${most} expressions in total, including those in the detokenize calls of its transforms`,
    { limit: 'expressions' },
  );
}

const opening = '{{';

/** The greatest number of expressions that a text can contain, counted up to `most` plus one. */
export function openingsIn(text: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(opening); at !== -1 && count <= most; at = text.indexOf(opening, at + 2)) count += 1;
  return count;
}
