import { Automaton } from '../guard/automaton.ts';
import type { Match } from '../guard/match-list.ts';
import type { Pattern } from '../guard/pattern.ts';

export function run<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const next = work.next();
    if (next.done) return next.value;
  }
}

export function automatonOf(patterns: readonly Pattern[]): Automaton {
  return run(Automaton.build(patterns));
}

/** By their definition: at each position the longest, then on from its end. */
export function naiveMatches(patterns: readonly Pattern[], text: Buffer): Match[] {
  const matches: Match[] = [];
  let start = 0;
  while (start < text.length) {
    const match = longestAt(patterns, text, start);
    if (match) matches.push(match);
    start = match?.end ?? start + 1;
  }
  return matches;
}

function longestAt(patterns: readonly Pattern[], text: Buffer, start: number): Match | undefined {
  let longest: Match | undefined;
  for (const [pattern, { bytes, last }] of patterns.entries()) {
    const end = start + bytes.length;
    if (!text.subarray(start, end).equals(bytes)) continue;
    if (last && !last.includes(text[end] ?? -1)) continue;
    const match = { pattern, start, end: end + (last ? 1 : 0) };
    if (!longest || match.end > longest.end) longest = match;
  }
  return longest;
}
