/**
 * Work that may take long, cut into pieces of about a millisecond: each step of the generator is one. A promise that it
 * yields is awaited before the next piece; where that fails, so does the work.
 */
export type Pieces<T> = Generator<Promise<void> | void, T, void>;

/** Does the main thread's work for Tenants piece by piece, so that what one of them brings never holds up the others. */
export interface WorkPieces {
  /**
   * The first piece runs at once, because most work has only one, whose result needs no promise; each further one waits
   * for its Tenant's turn.
   */
  run<T>(tenantId: string, work: Pieces<T>): T | Promise<T>;
  /** Resolves when it is the Tenant's turn to go on with a piece of its work. */
  turn(tenantId: string): Promise<void>;
}

/**
 * One piece that waited runs in each turn of the event loop, of the Tenants that wait in turn.
 * @param soon another way to call a function later.
 */
export function newWorkPieces(soon: (next: () => void) => unknown = setImmediate): WorkPieces {
  /** The Tenant that was served longest ago comes first. */
  const waiting = new Map<string, (() => void)[]>();

  function runNext(): void {
    for (const [tenantId, queue] of waiting) {
      waiting.delete(tenantId);
      const start = queue.shift();
      if (queue.length > 0) waiting.set(tenantId, queue);
      if (waiting.size > 0) soon(runNext);
      start?.();
      return;
    }
  }

  function turnOf(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      if (waiting.size === 0) soon(runNext);
      const queue = waiting.get(tenantId);
      if (queue) queue.push(resolve);
      else waiting.set(tenantId, [resolve]);
    });
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
