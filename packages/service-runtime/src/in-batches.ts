import type { RequestListener } from 'node:http';

/** Batches larger than this gain nothing, and their first item would wait for the others. */
const enough = 16;

let most = Number.POSITIVE_INFINITY;

/** For tests: no batch of this process is larger from now on. With one, everything goes its way by itself. */
export function limitBatches(count: number): void {
  most = count;
}

/**
 * Returns a function that collects items until the current phase of the event loop is over. In the next phase `handle` is
 * called with each item in turn.
 *
 * Under load one phase brings the work of many requests. Handling each request by itself took the gateway twice the
 * processor time, because its code had left the processor's caches when the next request came. Without load a batch has one
 * item, which waits for nothing.
 *
 * `handle` must not throw, because the items behind it would be lost.
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
