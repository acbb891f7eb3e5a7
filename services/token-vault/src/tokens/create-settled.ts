import type { SettleAnswer } from '@sluice/http-api';
import { type CreatedToken, type Creation, createTokens, createTokensAnd } from '@sluice/vault';

interface SettledCreation<T> {
  creation: Creation;
  answerTo: (created: readonly CreatedToken[]) => T;
  settle: SettleAnswer | undefined;
}

/** The answer is kept for repetitions of the request in the transaction that creates the tokens. */
export async function createSettled<T>({ creation, answerTo, settle }: SettledCreation<T>): Promise<T> {
  if (!settle) return answerTo(await createTokens(creation));
  return createTokensAnd(creation, async (tx, created, former) => {
    const answer = answerTo(created);
    await settle(tx, answer, former);
    return answer;
  });
}
