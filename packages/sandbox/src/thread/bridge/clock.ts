/** In a millisecond; no more, so that a transform learns little of what else its thread does. */
const ticks = 10;

/** The time since now, for one guest. */
export function clockOperations() {
  const startedAt = performance.now();
  return { clock: () => Math.floor((performance.now() - startedAt) * ticks) / ticks };
}
