import type { KeyNumber, Regeneration, SingleKey } from './history.ts';

export interface KeyLife {
  /** When the answer that gave it had arrived. */
  givenAt: number;
  /** When the next regeneration or its deletion was sent, or it expired: from then on it may be refused. */
  contestedAt: number;
  /** When the next success had arrived, or it had expired: from then on it must be refused. */
  revokedAt: number;
  isUncertain: boolean;
}

/**
 * A frozen server process may still execute a statement whose writer has given up. No freeze lasts longer than this
 * minus the longest response time.
 */
export const afterEffectMs = 10_000;

/** The keys of one Application, by number, from its regenerations in their order. */
export function keyLives(regenerations: readonly Regeneration[]): Map<KeyNumber, KeyLife> {
  const lives = new Map<KeyNumber, KeyLife>();
  const isPending = (at: number) =>
    regenerations.some(
      ({ outcome, startedAt, endedAt }) =>
        outcome === 'indeterminate' && startedAt < at && at < endedAt + afterEffectMs,
    );
  const given = [{ number: 0, startedAt: -Infinity, endedAt: -Infinity }, ...regenerations.filter(isConfirmed)];
  given.forEach(({ number, startedAt, endedAt }, index) => {
    const next = regenerations.find((one) => one.number > number);
    lives.set(number, {
      givenAt: endedAt,
      contestedAt: next?.startedAt ?? Infinity,
      revokedAt: given[index + 1]?.endedAt ?? Infinity,
      isUncertain: isPending(startedAt),
    });
  });
  return lives;
}

/** The keys of one Application to which single keys are added: its first, which stays, and those. */
export function singleKeyLives(keys: readonly SingleKey[]): Map<KeyNumber, KeyLife> {
  const first = { givenAt: -Infinity, contestedAt: Infinity, revokedAt: Infinity, isUncertain: false };
  return new Map([
    [0, first],
    ...keys.map(({ number, givenAt, expiresAt, expiredAt, deletionSentAt, deletedAt }): [KeyNumber, KeyLife] => [
      number,
      {
        givenAt,
        contestedAt: Math.min(expiresAt, deletionSentAt ?? Infinity),
        revokedAt: Math.min(expiredAt, deletedAt ?? Infinity),
        isUncertain: false,
      },
    ]),
  ]);
}

function isConfirmed({ outcome }: Regeneration): boolean {
  return outcome === 'confirmed';
}
