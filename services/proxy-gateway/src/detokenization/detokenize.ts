import { ServiceError } from '@sluice/problems';
import type { Pieces } from '@sluice/service-runtime';
import {
  addUnfiltered,
  type Expression,
  evaluateExpression,
  expressionsOfPiece,
  type FilterBudget,
  faultIn,
  filterBudget,
  InvalidExpression,
  type Json,
  mostDistinctTokens,
  mostTextOf,
  type PutIn,
  textLengthOf,
} from '@sluice/vault';
import type { Asked } from './asked.ts';
import { hasFilter, type Place } from './place.ts';

const noValues: ReadonlyMap<string, Json> = new Map();
export const noTokens: ReadonlySet<string> = new Set();

/** @throws {ServiceError} 400 for over 100 tokens with the known and the other ones, each counted once. */
export function askedIn(places: readonly Place[], known = noValues, others = noTokens): Asked {
  const ids = new Set<string>();
  let hasFilters = false;
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'literal') continue;
      hasFilters ||= segment.filters.length > 0;
      if (segment.reference !== '' && !known.has(segment.reference)) ids.add(segment.reference);
    }
  }
  const isMany = known.size + ids.size + others.size > mostDistinctTokens;
  if (isMany && new Set([...known.keys(), ...ids, ...others]).size > mostDistinctTokens) throw tooManyTokens();
  const fault = faultInPlaces(places) ?? foreignIn(places);
  return { tokenIds: [...ids], places, needed: hasFilters ? neededIn(places) : undefined, fault };
}

function tooManyTokens(): ServiceError {
  const detail = `A request may name at most ${mostDistinctTokens} tokens`;
  return new ServiceError('invalid_proxy_request', detail, { limit: 'tokens' });
}

const ofConfiguration = 'config:';

/** The configuration belongs to the Proxy's own headers, not to its callers. */
function foreignIn(places: readonly Place[]): InvalidExpression | undefined {
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'literal' || !segment.reference.startsWith(ofConfiguration)) continue;
      return new InvalidExpression(
        segment.start,
        'an expression with "config:" is allowed only in the request_headers of a Proxy',
      );
    }
  }
  return undefined;
}

function neededIn(places: readonly Place[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { segments } of places) {
    for (const segment of segments)
      if (segment.kind === 'expression' && !hasFilter(segment)) ids.add(segment.reference);
  }
  return ids;
}

/** Tells a response guard what is going to be put in. @throws {ServiceError} 413 if that is too much. */
export function guardUnfiltered(
  places: readonly Place[],
  values: ReadonlyMap<string, Json>,
  guard: { values: PutIn } | undefined,
): void {
  if (guard) for (const { segments } of places) addUnfiltered(segments, values, guard.values);
}

/** Values behind filters count in full, because nothing may depend on what filters make of them. */
export function mostTextIn(places: readonly Place[], values: ReadonlyMap<string, Json>): number {
  let length = 0;
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'expression') length += mostTextOf(segment, values.get(segment.reference));
    }
  }
  return length;
}

/** Report the fault only after the caller's rights are checked. */
export function faultInPlaces(places: readonly Place[]): InvalidExpression | undefined {
  for (const place of places) {
    const fault = place.fault ? place.fault() : faultIn(place.segments);
    if (fault) return fault;
  }
  return undefined;
}

export interface Filling {
  values: ReadonlyMap<string, Json>;
  limitBytes: number;
  filtered?: ReadonlyMap<Expression, Json>;
  /** Of a body that is filled window by window. */
  budget?: FilterBudget | undefined;
  /** Of a Proxy with a response guard. */
  putIn?: PutIn | undefined;
}

/**
 * A filter's result never decides whether this throws, because the error would reveal something about the value. A
 * result that would make the body too large is omitted. @throws {ServiceError} 413 without any filter, 400 for
 * expressions.
 */
export function fillPlaces(
  body: Buffer,
  places: readonly Place[],
  { values, limitBytes, filtered: results, budget, putIn }: Filling,
): Buffer {
  const fault = faultInPlaces(places);
  if (fault) throw fault;
  const texts: string[] = [];
  const filtered: number[] = [];
  // A few bytes can name a large value 10,000 times, so characters are counted before they are joined, except a place's
  // first value. The limit is doubled: places with filters are written twice.
  let left = 2 * limitBytes;
  let position = 0;
  let size = 0;
  const grow = (bytes: number) => {
    size += bytes;
    if (size > limitBytes) throw tooLarge(limitBytes);
  };
  let isFirst = true;
  let hasFilters = false;
  const unfiltered = ({ reference, filters }: Expression) => {
    if (filters.length > 0) {
      hasFilters = true;
      return null;
    }
    const value = values.get(reference) ?? null;
    if (!isFirst) left -= textLengthOf(value);
    if (left < 0) throw tooLarge(limitBytes);
    isFirst = false;
    return value;
  };
  for (const place of places) {
    isFirst = true;
    hasFilters = false;
    const text = place.write(unfiltered);
    grow(place.start - position + Buffer.byteLength(text, place.encoding));
    texts.push(text);
    if (hasFilters) filtered.push(texts.length - 1);
    position = place.end;
  }
  grow(body.length - position);
  if (filtered.length > 0) {
    const resolve = results ? knownResults(values, results) : filterWithin({ values, limitBytes, budget, putIn });
    size = writeFiltered(texts, filtered, { places, resolve, size, limitBytes });
  }
  return replaced(body, places, { texts, size });
}

type Resolve = (expression: Expression) => Json;

function filterWithin({ values, limitBytes, budget = filterBudget(), putIn }: Filling): Resolve {
  let left = 2 * limitBytes;
  return (expression) => {
    const value = values.get(expression.reference) ?? null;
    if (expression.filters.length === 0) return value;
    const result = left < 0 ? null : evaluateExpression(expression, value, budget);
    left -= textLengthOf(result);
    if (left < 0 || (putIn && !putIn.addFiltered(expression, result, value, budget))) return null;
    return result;
  };
}

export function knownResults(values: ReadonlyMap<string, Json>, results: ReadonlyMap<Expression, Json>): Resolve {
  return (expression) =>
    (expression.filters.length === 0 ? values.get(expression.reference) : results.get(expression)) ?? null;
}

/** Filters go through this many characters in about two milliseconds. */
const charactersOfPiece = 64 * 1024;

export function* filterInPieces(
  places: readonly Place[],
  { values, limitBytes, budget = filterBudget(), putIn }: Filling,
): Pieces<ReadonlyMap<Expression, Json>> {
  const results = new Map<Expression, Json>();
  const resolve = filterWithin({ values, limitBytes, budget, putIn });
  let count = 0;
  let { remaining } = budget;
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'literal' || segment.filters.length === 0) continue;
      results.set(segment, resolve(segment));
      count += 1;
      if (count < expressionsOfPiece && remaining - budget.remaining < charactersOfPiece) continue;
      yield;
      count = 0;
      ({ remaining } = budget);
    }
  }
  return results;
}

/** Writes places with filters again, as long as their results fit. @returns the size of the body. */
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

/** One buffer leaves fewer copies of the values in memory. */
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

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `After replacing tokens the body exceeds ${limitBytes} bytes`, {
    limit: 'body_size',
  });
}
