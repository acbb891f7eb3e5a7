import type { BodyDirection } from '@sluice/body-bytes';
import { type DecryptionBudget, decryptionBudget } from '@sluice/vault';
import type { Context } from '../context.ts';
import { type BodyOwner, copies, memoryOf } from './body-memory.ts';

type Reserving = Pick<Context, 'bodyBytes'>;

/** The bytes reserved for the body itself suffice for data up to this size. */
const smallData = 16 * 1024;

export interface Decrypting extends BodyOwner {
  decryption: DecryptionBudget | undefined;
  /** The body for which memory is reserved now. */
  readonly direction: BodyDirection;
  /** Whether that body streams; then nothing was reserved for it. */
  readonly isStreamed: boolean;
}

/** Reserves the bytes of token data first, because a request of some kilobytes can name megabytes of tokens. */
class ReservingBudget implements DecryptionBudget {
  leftBytes = decryptionBudget().leftBytes;
  readonly #owner: Decrypting;
  readonly #context: Reserving;

  constructor(owner: Decrypting, context: Reserving) {
    this.#owner = owner;
    this.#context = context;
  }

  hold(bytes: number): Promise<void> | undefined {
    if (bytes <= smallData && !this.#owner.isStreamed) return undefined;
    return memoryOf(this.#owner, this.#owner.direction, this.#context).grow(bytes);
  }
}

export function decryptionBudgetOf(decrypting: Decrypting, context: Reserving): DecryptionBudget {
  decrypting.decryption ??= new ReservingBudget(decrypting, context);
  return decrypting.decryption;
}

/** For calls of `svc`, whose responses are text in addition to the data. */
export function decryptionBudgetForCode(decrypting: Decrypting, context: Reserving): DecryptionBudget {
  const decryption = decryptionBudgetOf(decrypting, context);
  return {
    get leftBytes() {
      return decryption.leftBytes;
    },
    set leftBytes(left) {
      decryption.leftBytes = left;
    },
    hold: (bytes) => decryption.hold?.(bytes * copies),
  };
}
