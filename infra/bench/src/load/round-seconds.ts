/** V8 goes on compiling for some 15 s of full load, on the core that is measured: work that is called warm comes after. */
const leastWarmUpSeconds = 20;

/** How long a measurement of this round takes; round 0 warms up. */
export function secondsOfRound(round: number, seconds: number): number {
  return round === 0 ? Math.max(seconds, leastWarmUpSeconds) : seconds;
}
