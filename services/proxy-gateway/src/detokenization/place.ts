import { ServiceError } from '@sluice/problems';
import { type Expression, type InvalidExpression, type Json, type Segment, toText } from '@sluice/vault';

/** A place in a body that holds expressions, and how its new text is written there. */
export interface Place {
  /** Position of the first byte that is replaced. */
  start: number;
  /** Position behind the last. */
  end: number;
  segments: readonly Segment[];
  /** The bytes that stand there instead, escaped for the place. */
  write(value: (expression: Expression) => Json): string;
  /** How many expressions stand in the places up to this one. */
  expressionsSoFar?: number;
  /** Of what `write` returns; UTF-8 if it is not there. */
  encoding?: 'latin1';
  /** What is wrong in its expressions, and where in the body; without it what the first of the segments says. */
  fault?(): InvalidExpression | undefined;
}

export const opening = '{{';

/** Goes through a body and decodes, one after another, the texts in it that hold expressions. */
export interface TextFinder {
  /** Up to where the body is gone through. */
  readonly position: number;
  /** The next text; undefined where there is none before the end, or up to about `until`. */
  next(until: number): string | undefined;
  /** Where the last text stands, once its expressions are read. */
  place(segments: readonly Segment[]): Place;
}

/** The text that the segments make with the values in it. */
export function textOf(segments: readonly Segment[], resolve: (expression: Expression) => Json): string {
  let text = '';
  for (const segment of segments) text += segment.kind === 'literal' ? segment.text : toText(resolve(segment));
  return text;
}

/** Most expressions of one window of a body that streams. */
export const mostOfWindow = 10_000;

/** @throws {ServiceError} 400 for more expressions than one body may have, however small they are. */
export function addPlace(places: Place[], place: Place, most: number): void {
  place.expressionsSoFar = expressionsOf(places) + countOf(place);
  if (place.expressionsSoFar > most) throw tooManyPlaces(most);
  places.push(place);
}

/** How many expressions the places hold. */
export function expressionsOf(places: readonly Place[]): number {
  const last = places.at(-1);
  return last?.expressionsSoFar ?? places.reduce((sum, place) => sum + countOf(place), 0);
}

function countOf({ segments }: Place): number {
  let count = 0;
  for (const { kind } of segments) if (kind === 'expression') count += 1;
  return count;
}

/** The error for more places than one body may have. */
export function tooManyPlaces(most: number): ServiceError {
  return new ServiceError('bad_request', `The body has more than ${most} expressions`, { limit: 'expressions' });
}

/** The error for a body that is not what its type says, and holds what looks like an expression. */
export function malformedBody(what: string): ServiceError {
  return new ServiceError('bad_request', `The body is not valid ${what}`);
}

/** A name as an error shows it. */
export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
