import type { SettleAnswer } from '@sluice/http-api';
import { type CreatedToken, type Creation, createTokens, createTokensAnd } from '@sluice/vault';

interface SettledCreation<T> {
  creation: Creation;
  answerTo: (created: readonly CreatedToken[]) => T;
  /** Undefined where the request has no idempotency key. */
  settle: SettleAnswer | undefined;
}

/** Creates tokens in one transaction with the answer that is kept for repetitions of the request. */
export async function createSettled<T>({ creation, answerTo, settle }: SettledCreation<T>): Promise<T> {
  if (!settle) return answerTo(await createTokens(creation));
  return createTokensAnd(creation, async (tx, created) => {
    const answer = answerTo(created);
    await settle(tx, answer);
    return answer;
  });
}
