const betweenPausesMs = 1; // Linux looks every 1 to 4 ms by itself
const pauseMs = 0.05;
const neverWoken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let pausedAt = 0;

/** For a thread that gives way: lets those run that wait for its core and do not interrupt it. */
export function letOthersRun(): void {
  if (performance.now() - pausedAt < betweenPausesMs) return;
  Atomics.wait(neverWoken, 0, 0, pauseMs);
  pausedAt = performance.now();
}
