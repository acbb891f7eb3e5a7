/** What a fault test is given. */
export interface FaultContext {
  /** A folder of its own, which is removed afterwards. */
  directory: string;
  seed: number;
  /** Told what goes on. */
  log: (line: string) => void;
  /** Everything ends when it is aborted. */
  signal?: AbortSignal | undefined;
}

export interface FaultResult {
  /** What was measured, in the order in which it is shown. */
  figures: [name: string, value: string][];
  /** What must not have happened, in words; none where all is well. */
  failures: string[];
}

/** One row of the fault table. */
export interface FaultTest {
  /** By which it is called. */
  name: string;
  /** What is done, and what must hold. One line. */
  description: string;
  run(context: FaultContext): Promise<FaultResult>;
}
