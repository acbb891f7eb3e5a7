/** How much token data one request may decrypt, because parsed data may take thirty times its size. */
export interface OpeningBudget {
  leftBytes: number;
}

const mostOpenedBytes = 8 * 1024 * 1024;

export function newOpeningBudget(): OpeningBudget {
  return { leftBytes: mostOpenedBytes };
}
