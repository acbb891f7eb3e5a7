import type { RequestListener } from 'node:http';

/** Larger batches gain nothing, and their first item would wait for the others. */
const enough = 16;

/**
 * Collects items until the current phase of the event loop is over; the next one calls `handle`, which must not throw,
 * with each. One by one, the work of many requests took the gateway twice the processor time, because its code had
 * left the processor's caches when the next request came.
 */
export function inBatches<T>(handle: (item: T) => void): (item: T) => void {
  const waiting: T[] = [];

  function handleAll(): void {
    const batch = waiting.splice(0, Math.max(enough, waiting.length >> 1)); // half of a backlog, so that it does not grow
    if (waiting.length > 0) setImmediate(handleAll);
    for (const item of batch) handle(item);
  }

  return (item) => {
    waiting.push(item);
    if (waiting.length === 1) setImmediate(handleAll);
  };
}

export function requestsInBatches(listener: RequestListener): RequestListener {
  const handle = inBatches(([request, response]: Parameters<RequestListener>) => listener(request, response));
  return (request, response) => handle([request, response]);
}
