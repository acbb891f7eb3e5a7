import { FairTurns } from '@sluice/fair-turns';

/** A step of the generator takes about a millisecond. A yielded promise is awaited; if it fails, so does the work. */
export type Pieces<T> = Generator<Promise<void> | void, T, void>;

/** Does the main thread's work for Tenants piece by piece, so that the work of one never holds up the others. */
export interface WorkPieces {
  /** The first piece runs at once, because most work has only one and then needs no promise; further pieces are queued. */
  run<T>(tenantId: string, work: Pieces<T>): T | Promise<T>;
  /** Resolves when the Tenant may go on with a piece of its work. */
  turn(tenantId: string): Promise<void>;
}

/** One piece runs in each iteration of the event loop, in turn among Tenants. `soon` calls a function later. */
export function newWorkPieces(soon: (next: () => void) => unknown = setImmediate): WorkPieces {
  const turns = new FairTurns({ atOnce: 1 });

  async function turnOf(tenantId: string): Promise<void> {
    await turns.run(tenantId, () => new Promise<void>((resolve) => void soon(resolve)));
  }

  async function goOn<T>(tenantId: string, work: Pieces<T>, first: Promise<void> | void): Promise<T> {
    let awaited = first;
    for (;;) {
      try {
        await awaited;
      } catch (error) {
        work.throw(error);
        throw error;
      }
      await turnOf(tenantId);
      const { done, value } = work.next();
      if (done) return value;
      awaited = value;
    }
  }

  return {
    turn: turnOf,
    run(tenantId, work) {
      const { done, value } = work.next();
      return done ? value : goOn(tenantId, work, value);
    },
  };
}
