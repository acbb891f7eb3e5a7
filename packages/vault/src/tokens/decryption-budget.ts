/** Limits the token data that a request decrypts, because parsed data may take thirty times its size. */
export interface DecryptionBudget {
  leftBytes: number;
  hold?(bytes: number): Promise<void> | undefined;
}

const mostDecryptedBytes = 8 * 1024 * 1024;

export const unbounded: Readonly<DecryptionBudget> = { leftBytes: Number.POSITIVE_INFINITY };

export function decryptionBudget(): DecryptionBudget {
  return { leftBytes: mostDecryptedBytes };
}

interface DecryptionPart extends Required<DecryptionBudget> {
  giveBack(): void;
}

/** A part that can be released and used again. Its reservation then serves again. */
export function partOf(whole: DecryptionBudget): DecryptionPart {
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
      held += bytes;
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
