import { ModelError } from './run-program.ts';

/** What a search of all states found. */
export interface SearchResult {
  isViolated: boolean;
  states: number;
  seconds: number;
  memoryMb: number;
}

/**
 * Reads what spin's verifier wrote.
 * @throws {ModelError} where it says nothing, or did not look at every state and found no violation either: that is no
 * result.
 */
export function readSearchResult(output: string): SearchResult {
  const read = (pattern: RegExp) => Number(output.match(pattern)?.[1]);
  const errors = read(/errors: (\d+)/);
  const states = read(/^\s*(\S+) states, stored/m);
  const seconds = read(/elapsed time (\S+) seconds/);
  const memoryMb = read(/^\s*(\S+)\s+total actual memory usage/m);
  if ([errors, states, seconds, memoryMb].some(Number.isNaN)) throw noResult('said nothing that is a result', output);
  const isViolated = errors > 0;
  if (isViolated && !/assertion violated/.test(output)) throw noResult('found another error', output);
  const isWhole =
    /^Full statespace search/m.test(output) && !/Search not completed|search depth too small/.test(output);
  if (!isViolated && !isWhole) throw noResult('did not look at every state', output);
  return { isViolated, states, seconds, memoryMb };
}

function noResult(what: string, output: string): ModelError {
  return new ModelError(`The verifier ${what}:\n${output.trim()}`);
}
