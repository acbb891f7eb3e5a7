/** Limits the token data that a request decrypts, because parsed data may take thirty times its size. */
export interface OpeningBudget {
  leftBytes: number;
  hold?(bytes: number): Promise<void> | undefined;
}

const mostOpenedBytes = 8 * 1024 * 1024;

export const unbounded: Readonly<OpeningBudget> = { leftBytes: Number.POSITIVE_INFINITY };

export function newOpeningBudget(): OpeningBudget {
  return { leftBytes: mostOpenedBytes };
}

export function openedBytes({ leftBytes }: OpeningBudget): number {
  return mostOpenedBytes - leftBytes;
}
