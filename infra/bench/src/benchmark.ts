import type { LoadFigures } from './load/load-generator.ts';
import type { Cores } from './machine/cores.ts';
import type { ProgramSource } from './machine/programs.ts';
import type { Goal } from './report/statistics.ts';

/** One measurement of performance that has a goal. */
export interface Benchmark {
  /** For example `P1`. */
  id: string;
  /** A word that the command line takes for it as well, alone or with others. */
  name?: string;
  work: string;
  /** In words. */
  goal: string;
  peerName: string;
  /**
   * Starts what it needs, checks that it works, measures it beside its peers in turns, and leaves nothing running.
   * @throws when something does not work: then there is nothing to measure.
   */
  run(context: BenchmarkContext): Promise<Outcome>;
}

/** What a benchmark may use. */
export interface BenchmarkContext {
  rounds: number;
  /** Length of one measurement. */
  seconds: number;
  /** Of the large audit log. */
  logRows: number;
  /** Its own folder, which every user may pass through. */
  directory: string;
  cores: Cores;
  programs: ProgramSource;
  /** Where the services leave CPU profiles, if they are to. */
  profileDirectory: string | undefined;
  /** Told what happens. */
  log: (line: string) => void;
  /** Aborted when the person at the terminal has had enough. */
  signal: AbortSignal;
}

export interface Outcome {
  comparisons: Comparison[];
  /** All that was under load, for the table of latencies. */
  paths: PathFigures[];
  /** What to know when reading the figures, for example what generated the load. */
  notes: string[];
}

/** Ours against one peer: a value for each round, of the same rounds. */
export interface Comparison {
  unit: 'req/s' | 'rows/s' | 'µs' | 'ms' | 's' | 'MiB' | 'MiB/s';
  ours: number[];
  peer: number[];
  peerName: string;
  /** What the ratio of ours to the peer's is to be; absent where the peer is there to compare with. */
  goal?: Goal;
  /** Of both: requests that failed or were answered with anything but success. With one, the goal is not met. */
  errors: number;
}

export interface PathFigures {
  name: string;
  rounds: LoadFigures[];
}
