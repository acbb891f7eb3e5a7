import type { Readable } from 'node:stream';
import { newOpeningBudget, type OpeningBudget } from '@sluice/vault';
import type { Context } from '../context.ts';
import { type BodyOwner, copies, memoryOf } from './body-memory.ts';

type Reserving = Pick<Context, 'bodyBytes'>;

/** Data up to this size is covered by the bytes that were reserved for the body itself. */
const smallData = 16 * 1024;

export interface Opener extends BodyOwner {
  opening: OpeningBudget | undefined;
  readonly destinationStatus?: number | undefined;
  /** Set if the body streams, so that nothing was reserved for it. */
  readonly revealing?: Readable | undefined;
}

/** Reserves the bytes of token data first, because a request of some kilobytes can name megabytes of tokens. */
class Opening implements OpeningBudget {
  leftBytes = newOpeningBudget().leftBytes;
  readonly #opener: Opener;
  readonly #context: Reserving;

  constructor(opener: Opener, context: Reserving) {
    this.#opener = opener;
    this.#context = context;
  }

  hold(bytes: number): Promise<void> | undefined {
    if (bytes <= smallData && !this.#opener.revealing) return undefined;
    const direction = this.#opener.destinationStatus === undefined ? 'request' : 'answer';
    return memoryOf(this.#opener, direction, this.#context).grow(bytes);
  }
}

export function openingOf(opener: Opener, context: Reserving): OpeningBudget {
  opener.opening ??= new Opening(opener, context);
  return opener.opening;
}

/** For the calls of a transform, whose answers are written as text beside the data. */
export function openingForCode(opener: Opener, context: Reserving): OpeningBudget {
  const opening = openingOf(opener, context);
  return {
    get leftBytes() {
      return opening.leftBytes;
    },
    set leftBytes(left) {
      opening.leftBytes = left;
    },
    hold: (bytes) => opening.hold?.(bytes * copies),
  };
}
