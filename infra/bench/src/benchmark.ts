import type { LoadFigures } from './load/load-generator.ts';
import type { Cores } from './machine/cores.ts';
import type { ProgramSource } from './machine/programs.ts';
import type { Goal } from './report/statistics.ts';

/** A performance measurement with a goal. */
export interface Benchmark {
  /** For example `P1`. */
  id: string;
  /** An alternative word for it on the command line, which several benchmarks may share. */
  name?: string;
  work: string;
  /** In words. */
  goal: string;
  peerName: string;
  /**
   * Starts what it needs, checks that it works, measures it and its peers in turns, and leaves nothing running.
   * @throws when something does not work, because its measurement would mean nothing.
   */
  run(context: BenchmarkContext): Promise<Outcome>;
}

export interface BenchmarkContext {
  rounds: number;
  /** Length of one measurement. */
  seconds: number;
  /** Rows of the large audit log. */
  logRows: number;
  /** Its own folder, which every user may pass through. */
  directory: string;
  /** Where large tables are kept for the next run, if they are to. */
  dataDirectory: string | undefined;
  cores: Cores;
  programs: ProgramSource;
  /** The folder for CPU profiles of the services, if they are wanted. */
  profileDirectory: string | undefined;
  log: (line: string) => void;
  /** Aborted by the person at the terminal. */
  signal: AbortSignal;
}

export interface Outcome {
  comparisons: Comparison[];
  /** Everything that was under load, for the table of latencies. */
  paths: PathFigures[];
  /** Needed to read the figures, for example what generated the load. */
  notes: string[];
}

/** Compares the product with one peer; each has one value for each round. */
export interface Comparison {
  unit: 'req/s' | 'rows/s' | 'µs' | 'ms' | 's' | 'MiB' | 'MiB/s';
  ours: number[];
  peer: number[];
  peerName: string;
  /** The goal for the ratio of the product to the peer; absent where the peer is only for orientation. */
  goal?: Goal;
  /** Failed requests of both. With any, the goal is not met. */
  errors: number;
}

export interface PathFigures {
  name: string;
  rounds: LoadFigures[];
}
