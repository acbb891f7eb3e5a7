/** Charges what a native function of Node.js uses to the run that it works for. */
export interface Meter {
  /** Ends the run unless it has time left for a next step of `aheadMs`. @throws {RunEnded} */
  spend(aheadMs?: number): void;
  /** Ends the run unless its heap has room for this many more bytes. @throws {RunEnded} */
  hold(bytes: number): void;
}

/** The run is over. The guest may catch this error, but the interrupt handler then stops its next step. */
export class RunEnded extends Error {
  constructor() {
    super('The run has reached a limit');
    this.name = 'RunEnded';
  }
}
