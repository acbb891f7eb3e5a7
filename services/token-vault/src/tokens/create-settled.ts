import type { SettleAnswer } from '@sluice/http-api';
import { type CreatedToken, type Creation, createTokens, createTokensWith } from '@sluice/vault';

interface SettledCreation<T> {
  creation: Creation;
  answerTo: (created: readonly CreatedToken[]) => T;
  /** Stores the answer under the idempotency key of the request, where it has one. */
  settle: SettleAnswer | undefined;
}

/** Creates tokens, in one transaction with the answer that is kept for a repetition of the request. */
export async function createSettled<T>({ creation, answerTo, settle }: SettledCreation<T>): Promise<T> {
  if (!settle) return answerTo(await createTokens(creation));
  return creation.vault.db.transaction().execute(async (tx) => {
    const answer = answerTo(await createTokensWith(tx, creation));
    await settle(tx, answer);
    return answer;
  });
}
