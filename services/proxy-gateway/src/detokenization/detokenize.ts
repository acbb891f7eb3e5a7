import { ServiceError } from '@sluice/problems';
import { evaluateExpression, type Json, mostDistinctTokens, newFilterBudget } from '@sluice/vault';
import type { Place } from './place.ts';

/**
 * The tokens that the places name, each once, less those whose values are known.
 * @throws {ServiceError} 400 for over 100 of them, the known ones included.
 */
export function newTokenIdsIn(places: readonly Place[], known: ReadonlyMap<string, Json> = new Map()): string[] {
  const ids = new Set<string>();
  for (const { segments } of places) {
    for (const segment of segments) {
      if (segment.kind === 'expression' && !known.has(segment.reference)) ids.add(segment.reference);
    }
  }
  if (known.size + ids.size <= mostDistinctTokens) return [...ids];
  throw new ServiceError('invalid_proxy_request', `A request may name at most ${mostDistinctTokens} tokens`);
}

/**
 * Puts the values in the places of a body.
 * @throws {ServiceError} 400 for a filter that cannot work on its value, 413 where the body or the work gets too large.
 */
export function fillPlaces(
  body: Buffer,
  places: readonly Place[],
  { values, limitBytes }: { values: ReadonlyMap<string, Json>; limitBytes: number },
): Buffer {
  const budget = newFilterBudget();
  const texts: string[] = [];
  let position = 0;
  let size = 0;
  const grow = (bytes: number) => {
    size += bytes;
    if (size > limitBytes) throw tooLarge(limitBytes);
  };
  for (const place of places) {
    const text = place.write((expression) =>
      evaluateExpression(expression, values.get(expression.reference) ?? null, budget),
    );
    grow(place.start - position + Buffer.byteLength(text, place.encoding));
    texts.push(text);
    position = place.end;
  }
  grow(body.length - position);
  return replaced(body, places, { texts, size });
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
  for (const [i, place] of places.entries()) {
    end += body.copy(filled, end, position, place.start);
    end += filled.write(texts[i] ?? '', end, place.encoding);
    position = place.end;
  }
  body.copy(filled, end, position);
  return filled;
}

/** A small body can name a large token many times. */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `With its values the body may have at most ${limitBytes} bytes`);
}
