/** A step of the generator takes about a millisecond. A yielded promise is awaited; if it fails, so does the work. */
export type Pieces<T> = Generator<Promise<void> | void, T, void>;

/** Does the main thread's work for Tenants piece by piece, so that the work of one never holds up the others. */
export interface WorkPieces {
  /** The first piece runs at once, because most work has only one and then needs no promise; others wait for a turn. */
  run<T>(tenantId: string, work: Pieces<T>): T | Promise<T>;
  /** Resolves when the Tenant may go on with a piece of its work. */
  turn(tenantId: string): Promise<void>;
}

/** One piece runs in each turn of the event loop, by turns among Tenants. `soon` calls a function later. */
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
