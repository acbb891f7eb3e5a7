import type { Readable } from 'node:stream';
import { newOpeningBudget, type OpeningBudget } from '@sluice/vault';
import type { Context } from '../context.ts';
import { type BodyHolder, heldBody } from './hold-body.ts';

/** Data up to this size is covered by the bytes that were reserved for the body itself. */
const smallData = 16 * 1024;

/** For a streamed body, because a body that is held has its memory already. */
const noBody = { contentLength: 0, isCoded: false, isTransformed: false };

interface Opener extends BodyHolder {
  opening: OpeningBudget | undefined;
  readonly destinationStatus: number | undefined;
  /** Set if the body streams, so that nothing was reserved for it. */
  readonly revealing?: Readable | undefined;
}

/** Reserves the bytes of token data first, because a request of some kilobytes can name megabytes of tokens. */
class Opening implements OpeningBudget {
  leftBytes = newOpeningBudget().leftBytes;
  readonly #opener: Opener;
  readonly #context: Context;

  constructor(opener: Opener, context: Context) {
    this.#opener = opener;
    this.#context = context;
  }

  hold(bytes: number): Promise<void> | undefined {
    if (bytes <= smallData && !this.#opener.revealing) return undefined;
    const direction = this.#opener.destinationStatus === undefined ? 'request' : 'answer';
    return heldBody(this.#opener, direction, this.#context, noBody).fill(bytes);
  }
}

export function openingOf(opener: Opener, context: Context): OpeningBudget {
  opener.opening ??= new Opening(opener, context);
  return opener.opening;
}
