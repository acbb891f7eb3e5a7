/** Steps of the clock in a millisecond; no more, so that a transform learns little about what else its thread does. */
const ticks = 10;

/** A clock for one guest that starts now. */
export function clockOperations() {
  const startedAt = performance.now();
  return { clock: () => Math.floor((performance.now() - startedAt) * ticks) / ticks };
}
