import type { Pieces } from '@sluice/service-runtime';

/** Shorter secrets match only as whole words, because "12" is in many words. */
const shortestInWords = 4;
/** Also finds this many characters of a secret's beginning, because printed texts may be cut within a secret. */
const shortestBeginning = 9;
const charactersOfPiece = 4096;

export interface Found {
  start: number;
  end: number;
}

export interface SecretFinder {
  /** In order; overlapping secrets are one find. */
  findIn(text: string): Pieces<Found[]>;
}

/** A state is the longest prefix of a secret that the text read so far ends with; 0 is none. */
interface States {
  /** The next state by state and character; keys are `state * 65,536 + character`. */
  steps: Map<number, number>;
  /** The state of the next shorter prefix that the text also ends with. */
  shorter: number[];
  /** The length of the longest secret, or beginning of one, that ends here and matches within words; 0 for none. */
  longest: number[];
  /** Bit n is set where a secret of n characters ends here that matches only as a whole word. */
  alone: number[];
}

/**
 * By Aho and Corasick (Communications of the ACM 18(6), 1975), so that the time does not grow with the number of
 * secrets.
 */
export function* secretFinder(secrets: Iterable<string>): Pieces<SecretFinder> {
  const states: States = { steps: new Map(), shorter: [0], longest: [0], alone: [0] };
  const levels: number[][] = [];
  let characters = 0;
  for (const secret of secrets) {
    yield* addSecret(secret, states, levels);
    characters += secret.length % charactersOfPiece;
    if (characters < charactersOfPiece) continue;
    characters = 0;
    yield;
  }
  yield* linkStates(states, levels);
  return { findIn: (text) => findIn(text, states) };
}

/** Groups the steps by their depth in `levels`, so that shorter prefixes are linked first. */
function* addSecret(secret: string, { steps, shorter, longest, alone }: States, levels: number[][]): Pieces<void> {
  let state = 0;
  for (let at = 0; at < secret.length; at += 1) {
    if (at > 0 && at % charactersOfPiece === 0) yield;
    const key = state * 65_536 + foldCase(secret.charCodeAt(at));
    let next = steps.get(key);
    if (next === undefined) {
      next = shorter.length;
      steps.set(key, next);
      shorter.push(0);
      longest.push(at + 1 < shortestBeginning ? 0 : at + 1);
      alone.push(0);
      const level = levels[at];
      if (level) level.push(key);
      else levels[at] = [key];
    }
    state = next;
  }
  if (state === 0) return;
  if (secret.length < shortestInWords) alone[state] = (alone[state] ?? 0) | (1 << secret.length);
  else longest[state] = secret.length;
}

function* linkStates({ steps, shorter, longest, alone }: States, levels: readonly number[][]): Pieces<void> {
  let linked = 0;
  for (const level of levels) {
    for (const key of level) {
      const state = steps.get(key) ?? 0;
      const parent = Math.floor(key / 65_536);
      const link = parent === 0 ? 0 : stepFrom(shorter[parent] ?? 0, key % 65_536, { steps, shorter });
      shorter[state] = link;
      longest[state] ||= longest[link] ?? 0;
      alone[state] = (alone[state] ?? 0) | (alone[link] ?? 0);
      linked += 1;
      if (linked % charactersOfPiece === 0) yield;
    }
  }
}

function stepFrom(from: number, character: number, { steps, shorter }: Pick<States, 'steps' | 'shorter'>): number {
  for (let state = from; ; state = shorter[state] ?? 0) {
    const next = steps.get(state * 65_536 + character);
    if (next !== undefined) return next;
    if (state === 0) return 0;
  }
}

function* findIn(text: string, states: States): Pieces<Found[]> {
  const found: Found[] = [];
  let state = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at > 0 && at % charactersOfPiece === 0) yield;
    state = stepFrom(state, foldCase(text.charCodeAt(at)), states);
    const end = at + 1;
    const length = (states.longest[state] ?? 0) || longestAlone(text, end, states.alone[state] ?? 0);
    if (length > 0) addFound(found, { start: end - length, end });
  }
  return found;
}

function longestAlone(text: string, end: number, lengths: number): number {
  if (lengths === 0 || isWord(text.charCodeAt(end))) return 0;
  for (let length = shortestInWords - 1; length > 0; length -= 1) {
    if ((lengths & (1 << length)) !== 0 && !isWord(text.charCodeAt(end - length - 1))) return length;
  }
  return 0;
}

/** Finds are ordered by their ends, so a long one may replace several earlier ones. */
function addFound(found: Found[], next: Found): void {
  let { start } = next;
  for (let last = found.at(-1); last && last.end > start; last = found.at(-1)) {
    start = Math.min(start, last.start);
    found.pop();
  }
  found.push({ start, end: next.end });
}

/** A character outside the text is NaN, which is not part of a word. */
function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** Folds as case-insensitive patterns do (ECMA-262, Canonicalize): to the upper case, where that is one character. */
function foldCase(code: number): number {
  if (code < 0x80) return code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
  const upper = String.fromCharCode(code).toUpperCase();
  const folded = upper.charCodeAt(0);
  return upper.length === 1 && folded >= 0x80 ? folded : code;
}
