/** Steps in a millisecond. With a finer clock a transform could observe other work of its thread. */
const ticks = 10;

export function clockOperations() {
  const startedAt = performance.now();
  return { clock: () => Math.floor((performance.now() - startedAt) * ticks) / ticks };
}
