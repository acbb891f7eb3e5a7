/** V8 compiles for some 15 s under full load on the measured core, so work counts as warm only after that. */
const leastWarmUpSeconds = 20;

/** Round 0 warms up. */
export function secondsOfRound(round: number, seconds: number): number {
  return round === 0 ? Math.max(seconds, leastWarmUpSeconds) : seconds;
}
