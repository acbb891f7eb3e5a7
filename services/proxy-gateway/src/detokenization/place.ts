import { ServiceError } from '@sluice/problems';
import { type Expression, type InvalidExpression, type Json, type Segment, toText } from '@sluice/vault';

/** A range of bytes in a body that contains expressions and is replaced as a whole. */
export interface Place {
  start: number;
  end: number;
  segments: readonly Segment[];
  write(value: (expression: Expression) => Json): string;
  /** Of the head, as the log of disclosures lists it: `query`, `header:x-card`. Absent in a body. */
  name?: string;
  /** Counts all places up to and including this one. */
  expressionsSoFar?: number;
  /** UTF-8 if absent. */
  encoding?: 'latin1';
  /** The first fault, with its position in the body. If absent, the segments contain the fault. */
  fault?(): InvalidExpression | undefined;
}

export const opening = '{{';

export interface TextFinder {
  readonly position: number;
  /** Undefined if there is none before the end of the body, or before about `until`. */
  next(until: number): string | undefined;
  /** The place of the last text, once its expressions have been parsed. */
  place(segments: readonly Segment[]): Place;
}

export function textOf(segments: readonly Segment[], resolve: (expression: Expression) => Json): string {
  let text = '';
  for (const segment of segments) text += segment.kind === 'literal' ? segment.text : toText(resolve(segment));
  return text;
}

export function hasFilter(segment: Segment): boolean {
  return segment.kind === 'expression' && segment.filters.length > 0;
}

export const mostOfWindow = 10_000;

export function addPlace(places: Place[], place: Place, most: number): void {
  place.expressionsSoFar = expressionsOf(places) + countOf(place);
  if (place.expressionsSoFar > most) throw tooManyPlaces(most);
  places.push(place);
}

export function expressionsOf(places: readonly Place[]): number {
  const last = places.at(-1);
  return last?.expressionsSoFar ?? places.reduce((sum, place) => sum + countOf(place), 0);
}

function countOf({ segments }: Place): number {
  let count = 0;
  for (const { kind } of segments) if (kind === 'expression') count += 1;
  return count;
}

export function tooManyPlaces(most: number): ServiceError {
  return new ServiceError('bad_request', `The body has more than ${most} expressions`, { limit: 'expressions' });
}

export function malformedBody(what: string): ServiceError {
  return new ServiceError('bad_request', `The body is not valid ${what}`);
}

/** In a wrong charset a value would become other characters. */
export function notOfCharset(name: string): ServiceError {
  const detail = `A text with an expression is not valid ${name}; send the charset of the body in Content-Type`;
  return new ServiceError('unsupported_media_type', detail);
}

export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
