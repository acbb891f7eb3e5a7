import type { RequestListener } from 'node:http';

/** A larger batch gains nothing, and what came first would wait for the others. */
const enough = 16;

let most = Number.POSITIVE_INFINITY;

/** For tests: no batch of this process is larger from now on. With one, everything goes its way by itself. */
export function limitBatches(count: number): void {
  most = count;
}

/**
 * A function that keeps what it is given until the current phase of the event loop is over, and has `handle` work it off
 * in the next, one right after the other.
 *
 * Under load a phase brings work of many requests. Where each goes its whole way by itself, its code has left the
 * processor's caches when the next one comes: the gateway took twice the processor time for an invocation. Without load
 * there is one, which waits for nothing.
 *
 * `handle` must not throw: what is behind it would be lost.
 */
export function inBatches<T>(handle: (item: T) => void): (item: T) => void {
  const waiting: T[] = [];

  function handleAll(): void {
    const batch = waiting.splice(0, Math.min(most, Math.max(enough, waiting.length >> 1))); // half of it, so that no backlog grows
    if (waiting.length > 0) setImmediate(handleAll);
    for (const item of batch) handle(item);
  }

  return (item) => {
    waiting.push(item);
    if (waiting.length === 1) setImmediate(handleAll);
  };
}

/** The same for the requests of a server. */
export function requestsInBatches(listener: RequestListener): RequestListener {
  const handle = inBatches(([request, response]: Parameters<RequestListener>) => listener(request, response));
  return (request, response) => handle([request, response]);
}
