/** What a native function of Node.js asks while it works for a run: what it uses counts as the run's. */
export interface Meter {
  /** Ends the run unless it has CPU time and wall clock left, also for `aheadMs` that the next step takes. @throws {RunEnded} */
  spend(aheadMs?: number): void;
  /** Ends the run unless its heap has room for so many more bytes. @throws {RunEnded} */
  hold(bytes: number): void;
}

/** The run that a native function works for is over. The guest may catch it; its next step is its last. */
export class RunEnded extends Error {
  constructor() {
    super('The run has reached a limit');
    this.name = 'RunEnded';
  }
}
