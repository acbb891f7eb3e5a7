/** Steps in a millisecond. A finer clock would tell a transform what else its thread does. */
const ticks = 10;

export function clockOperations() {
  const startedAt = performance.now();
  return { clock: () => Math.floor((performance.now() - startedAt) * ticks) / ticks };
}
