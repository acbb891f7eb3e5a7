/** Limits the token data that a request decrypts, because parsed data may take thirty times its size. */
export interface DecryptionBudget {
  leftBytes: number;
  /** Reserves memory; undefined if it is available at once. */
  hold?(bytes: number): Promise<void> | undefined;
}

export const mostDecryptedBytes = 8 * 1024 * 1024;

export const unbounded: Readonly<DecryptionBudget> = { leftBytes: Number.POSITIVE_INFINITY };

export function decryptionBudget(): DecryptionBudget {
  return { leftBytes: mostDecryptedBytes };
}

/** A part that can be given back and used again; its memory then serves again. It reserves `copies` of each byte. */
export function partOf(whole: DecryptionBudget, copies = 1): Required<DecryptionBudget> & { giveBack(): void } {
  let taken = 0;
  let held = 0;
  let reserved = 0;
  return {
    get leftBytes() {
      return whole.leftBytes;
    },
    set leftBytes(left) {
      taken += whole.leftBytes - left;
      whole.leftBytes = left;
    },
    hold(bytes) {
      held += bytes * copies;
      const more = held - reserved;
      if (more <= 0) return undefined;
      reserved = held;
      return whole.hold?.(more);
    },
    giveBack() {
      whole.leftBytes += taken;
      taken = 0;
      held = 0;
    },
  };
}

export function decryptedBytes({ leftBytes }: DecryptionBudget): number {
  return mostDecryptedBytes - leftBytes;
}
