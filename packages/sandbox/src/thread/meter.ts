/** Charges the use of native functions of Node.js to the run that called them. */
export interface Meter {
  /** Ends the run unless it has time left for another step of `aheadMs`. @throws {RunEnded} */
  spend(aheadMs?: number): void;
  /** Ends the run unless its heap has space for this many more bytes. @throws {RunEnded} */
  hold(bytes: number): void;
}

/** The run has ended. The guest may catch this error, but the interrupt handler then stops its next step. */
export class RunEnded extends Error {
  constructor() {
    super('The run has reached a limit');
    this.name = 'RunEnded';
  }
}
