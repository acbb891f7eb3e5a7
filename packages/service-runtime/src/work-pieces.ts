import { FairTurns } from '@sluice/fair-turns';

/** A step of the generator takes about a millisecond. A yielded promise is awaited; if it fails, so does the work. */
export type Pieces<T> = Generator<Promise<void> | void, T, void>;

/**
 * Runs the main thread's work for Tenants in pieces, so that the work of one does not delay the others. Each iteration
 * of the event loop runs one piece, for each Tenant in turn.
 */
export class WorkPieces {
  readonly #turns = new FairTurns({ atOnce: 1 });
  readonly #soon: (next: () => void) => unknown;

  /** `soon` calls a function later. */
  constructor(soon: (next: () => void) => unknown = setImmediate) {
    this.#soon = soon;
  }

  /** The first piece runs at once, because most work has only one and then needs no promise; further pieces are queued. */
  run<T>(tenantId: string, work: Pieces<T>): T | Promise<T> {
    const { done, value } = work.next();
    return done ? value : this.#goOn(tenantId, work, value);
  }

  /** Resolves when the Tenant may go on with a piece of its work. */
  async turn(tenantId: string): Promise<void> {
    await this.#turns.run(tenantId, () => new Promise<void>((resolve) => void this.#soon(resolve)));
  }

  async #goOn<T>(tenantId: string, work: Pieces<T>, first: Promise<void> | void): Promise<T> {
    let awaited = first;
    for (;;) {
      try {
        await awaited;
      } catch (error) {
        work.throw(error);
        throw error;
      }
      await this.turn(tenantId);
      const { done, value } = work.next();
      if (done) return value;
      awaited = value;
    }
  }
}
