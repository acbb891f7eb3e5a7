import type { Program } from '@sluice/local';
import type { LoadFigures } from './load/load-generator.ts';
import type { Cores } from './machine/cores.ts';
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
  /** Its own folder, which every user may pass through. */
  directory: string;
  cores: Cores;
  /** A program of this machine, or of Debian's packages; undefined where neither is to be had. */
  find(name: string, packages: string[]): Promise<Program | undefined>;
  /** The folder for CPU profiles of the services, if they are wanted. */
  profileDirectory: string | undefined;
  /** Another checkout, whose gateway is measured as one more peer. */
  besideCheckout: string | undefined;
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
  unit: 'req/s' | 'µs' | 'ms' | 's' | 'MiB' | 'MiB/s';
  ours: number[];
  peer: number[];
  peerName: string;
  /** The goal for the ratio of the product to the peer; absent where the peer is only for orientation. */
  goal?: Goal | undefined;
  /** Failed requests of both. With any, the goal is not met. */
  errors: number;
}

export interface PathFigures {
  name: string;
  rounds: LoadFigures[];
}

/** A goal without a peer: the product may reach this limit at most. */
export function limited(
  unit: Comparison['unit'],
  ours: number[],
  { limit, name, errors = 0 }: { limit: number; name: string; errors?: number },
): Comparison {
  return { unit, ours, peer: ours.map(() => limit), peerName: name, goal: { atMost: 1 }, errors };
}

/** Compares the rates of two paths that were measured in the same rounds. */
export function compareRates(ours: PathFigures, peer: PathFigures, goal?: Goal): Comparison {
  const rates = ({ rounds }: PathFigures) => rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  const errors = errorsOf(ours, peer);
  return { unit: 'req/s', ours: rates(ours), peer: rates(peer), peerName: peer.name, goal, errors };
}

export function errorsOf(...paths: PathFigures[]): number {
  return paths.flatMap(({ rounds }) => rounds).reduce((sum, { errors }) => sum + errors, 0);
}
