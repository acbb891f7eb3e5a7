import { ServiceError } from '@sluice/problems';
import type { Expression, Json, Segment } from '@sluice/vault';
import { hasFilter, type Place, textOf } from '../place.ts';

/** A text of a message's head with the places in it. */
export interface Line {
  text: string;
  places: readonly Place[];
}

export type Resolve = (expression: Expression) => Json;

/** Longest header line, and longest path and query together, once they are filled. */
const longestLine = 16 * 1024;

/**
 * Fills lines that have {@link longestLine} together; `taken` of it is used already. First all values without filters
 * are written, so that the result of a filter never decides whether this throws: one that makes the lines too long is
 * omitted. @throws {ServiceError} 400 if they are too long without filters, or a place cannot hold its value.
 */
export function fillLines(lines: readonly Line[], resolve: Resolve, { taken = 0, name }: LineName): string[] {
  const places = lines.flatMap((line) => line.places);
  let left = longestLine - taken - lines.reduce((sum, { text }) => sum + text.length, 0);
  const texts = places.map((place) => {
    const text = place.write((expression) => (expression.filters.length > 0 ? null : resolve(expression)));
    left -= text.length - (place.end - place.start);
    // Every further value would be written as text first
    if (left < -mostOfSources) throw tooLong(name);
    return text;
  });
  if (left < 0 && places.length > 0) throw tooLong(name);
  for (const [i, place] of places.entries()) {
    if (!place.segments.some(hasFilter)) continue;
    const text = place.write(resolve);
    const grown = text.length - (texts[i]?.length ?? 0);
    if (grown > left) continue;
    left -= grown;
    texts[i] = text;
  }
  let written = 0;
  return lines.map((line) => {
    const first = written;
    written += line.places.length;
    return replaced(line, texts.slice(first, written));
  });
}

interface LineName {
  taken?: number;
  /** For errors, as their subject. */
  name: string;
}

/** The sources of all expressions that may follow are no longer than the head of a request. */
const mostOfSources = longestLine;

function replaced({ text, places }: Line, texts: readonly string[]): string {
  let filled = '';
  let position = 0;
  for (const [i, { start, end }] of places.entries()) {
    filled += text.slice(position, start) + (texts[i] ?? '');
    position = end;
  }
  return filled + text.slice(position);
}

function tooLong(name: string): ServiceError {
  const detail = `With its values ${name} would be longer than ${longestLine} bytes`;
  return new ServiceError('bad_request', detail, { limit: 'headers' });
}

export function cannotStandIn(place: string, segment: Segment, why: string): ServiceError {
  const subject = segment.kind === 'literal' ? 'A quoted text' : `The value of ${segment.reference.slice(0, 100)}`;
  return cannotStand(subject, place, why);
}

function cannotStand(subject: string, place: string, why: string): ServiceError {
  return new ServiceError('bad_request', `${subject} cannot be in ${place}: ${why}`);
}

interface Holding {
  /** For errors: `the path`. */
  place: string;
  fits(text: string): boolean;
  /** Why a text that does not fit cannot stand there. */
  why: string;
  /** Errors do not name the token, because the caller did not write the expression and may not see it. */
  isOfProxy?: boolean;
}

/**
 * The text of one expression, or '' if a filter made something that cannot stand there: an error would tell something
 * about the value. @throws {ServiceError} 400 if it has no filter.
 */
export function standing(segment: Segment, resolve: Resolve, { place, fits, why, isOfProxy }: Holding): string {
  const text = textOf([segment], resolve);
  const isShort = text.length <= longestLine;
  if (isShort && fits(text)) return text;
  if (hasFilter(segment)) return '';
  if (!isShort) throw tooLong(place);
  throw isOfProxy ? cannotStand('A value', place, why) : cannotStandIn(place, segment, why);
}
