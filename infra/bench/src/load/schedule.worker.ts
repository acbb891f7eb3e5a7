import { parentPort, workerData } from 'node:worker_threads';

/** Requests by number; the first is due at `startMs` of `process.hrtime`. */
export interface Schedule {
  startMs: number;
  intervalMs: number;
  total: number;
}

// A thread of its own, because timers of a busy event loop are late by up to a millisecond.
const { startMs, intervalMs, total } = workerData as Schedule;
const never = new Int32Array(new SharedArrayBuffer(4));
for (let n = 0; n < total; n++) {
  const waitMs = startMs + n * intervalMs - Number(process.hrtime.bigint()) / 1e6;
  if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
  parentPort?.postMessage(n);
}
