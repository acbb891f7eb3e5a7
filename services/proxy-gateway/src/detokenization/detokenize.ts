import { ServiceError } from '@sluice/problems';
import type { Pieces } from '@sluice/service-runtime';
import {
  type Expression,
  evaluateExpression,
  expressionsOfPiece,
  faultIn,
  type InvalidExpression,
  type Json,
  mostDistinctTokens,
  newFilterBudget,
  type Segment,
  textLengthOf,
} from '@sluice/vault';
import type { Place } from './place.ts';

/**
 * The tokens that the places name, each once, less those whose values are known.
 * @throws {ServiceError} 400 for over 100 of them, the known ones included.
 */
export function newTokenIdsIn(places: readonly Place[], known: ReadonlyMap<string, Json> = new Map()): string[] {
  const ids = new Set<string>();
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'literal' || segment.reference === '' || known.has(segment.reference)) continue;
      ids.add(segment.reference);
    }
  }
  if (known.size + ids.size <= mostDistinctTokens) return [...ids];
  throw new ServiceError('invalid_proxy_request', `A request may name at most ${mostDistinctTokens} tokens`);
}

/** The tokens that stand somewhere without a filter; undefined where no expression has one. */
export function neededIn(places: readonly Place[]): ReadonlySet<string> | undefined {
  if (!places.some(({ segments }) => segments.some(hasFilter))) return undefined;
  const ids = new Set<string>();
  for (const { segments } of places) {
    for (const segment of segments)
      if (segment.kind === 'expression' && !hasFilter(segment)) ids.add(segment.reference);
  }
  return ids;
}

/** About how long the values are together that stand without a filter. */
export function textLengthIn(places: readonly Place[], values: ReadonlyMap<string, Json>): number {
  let length = 0;
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'expression' && !hasFilter(segment)) length += textLengthOf(values.get(segment.reference));
    }
  }
  return length;
}

/** What is wrong in the first expression that is wrong, for after the checks of the caller's rights. */
export function faultInPlaces(places: readonly Place[]): InvalidExpression | undefined {
  for (const place of places) {
    const fault = place.fault ? place.fault() : faultIn(place.segments);
    if (fault) return fault;
  }
  return undefined;
}

/** What places are filled with. */
export interface Filling {
  values: ReadonlyMap<string, Json>;
  limitBytes: number;
  /** What filters make of the values, where that is known already. */
  filtered?: ReadonlyMap<Expression, Json>;
}

/**
 * Puts the values in the places of a body. Nothing that filters make of values decides whether it throws, because such
 * an answer would tell the caller about them: a place where they would make the body too large is written as if its
 * filters had failed.
 * @throws {ServiceError} 413 where the body is too large even so; 400 for an expression that is wrong.
 */
export function fillPlaces(
  body: Buffer,
  places: readonly Place[],
  { values, limitBytes, filtered: results }: Filling,
): Buffer {
  const fault = faultInPlaces(places);
  if (fault) throw fault;
  const texts: string[] = [];
  const filtered: number[] = [];
  // Counted before they are joined: a few bytes can name a large value 10,000 times. Some places are written twice.
  let left = 2 * limitBytes;
  let position = 0;
  let size = 0;
  const grow = (bytes: number) => {
    size += bytes;
    if (size > limitBytes) throw tooLarge(limitBytes);
  };
  const unfiltered = ({ reference, filters }: Expression) => {
    if (filters.length > 0) return null;
    const value = values.get(reference) ?? null;
    left -= textLengthOf(value);
    if (left < 0) throw tooLarge(limitBytes);
    return value;
  };
  for (const place of places) {
    const text = place.write(unfiltered);
    grow(place.start - position + Buffer.byteLength(text, place.encoding));
    texts.push(text);
    if (place.segments.some(hasFilter)) filtered.push(texts.length - 1);
    position = place.end;
  }
  grow(body.length - position);
  if (filtered.length > 0) {
    const resolve = results ? knownResults(values, results) : filterWithin(values, limitBytes);
    size = writeFiltered(texts, filtered, { places, resolve, size, limitBytes });
  }
  return replaced(body, places, { texts, size });
}

type Resolve = (expression: Expression) => Json;

function filterWithin(values: ReadonlyMap<string, Json>, limitBytes: number): Resolve {
  const budget = newFilterBudget();
  let left = 2 * limitBytes;
  return (expression) => {
    const value = values.get(expression.reference) ?? null;
    if (expression.filters.length === 0) return value;
    const result = left < 0 ? null : evaluateExpression(expression, value, budget);
    left -= textLengthOf(result);
    return left < 0 ? null : result;
  };
}

function knownResults(values: ReadonlyMap<string, Json>, results: ReadonlyMap<Expression, Json>): Resolve {
  return (expression) =>
    (expression.filters.length === 0 ? values.get(expression.reference) : results.get(expression)) ?? null;
}

/** In pieces, what filters make of the values, for {@link fillPlaces}. */
export function* filterInPieces(
  places: readonly Place[],
  { values, limitBytes }: Filling,
): Pieces<ReadonlyMap<Expression, Json>> {
  const results = new Map<Expression, Json>();
  const resolve = filterWithin(values, limitBytes);
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'literal' || segment.filters.length === 0) continue;
      results.set(segment, resolve(segment));
      if (results.size % expressionsOfPiece === 0) yield;
    }
  }
  return results;
}

function hasFilter(segment: Segment): boolean {
  return segment.kind === 'expression' && segment.filters.length > 0;
}

/** Writes the places with filters anew, as long as they fit. Answers the size of the body. */
function writeFiltered(
  texts: string[],
  filtered: readonly number[],
  {
    places,
    resolve,
    size,
    limitBytes,
  }: { places: readonly Place[]; resolve: Resolve; size: number; limitBytes: number },
): number {
  let total = size;
  for (const i of filtered) {
    const place = places[i];
    if (!place) continue;
    const text = place.write(resolve);
    const grown = total + Buffer.byteLength(text, place.encoding) - Buffer.byteLength(texts[i] ?? '', place.encoding);
    if (grown > limitBytes) continue;
    texts[i] = text;
    total = grown;
  }
  return total;
}

/** In one buffer: what is put together of several would leave more copies of the values in memory. */
function replaced(
  body: Buffer,
  places: readonly Place[],
  { texts, size }: { texts: readonly string[]; size: number },
): Buffer {
  const filled = Buffer.allocUnsafe(size);
  let position = 0;
  let end = 0;
  let written = 0;
  for (const place of places) {
    end += body.copy(filled, end, position, place.start);
    end += filled.write(texts[written++] ?? '', end, place.encoding);
    position = place.end;
  }
  body.copy(filled, end, position);
  return filled;
}

/** A small body can name a large token many times. */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `With its values the body may have at most ${limitBytes} bytes`, {
    limit: 'body_size',
  });
}
