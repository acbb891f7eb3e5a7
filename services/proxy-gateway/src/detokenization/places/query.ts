import { faultIn, readExpressions } from '@sluice/vault';
import type { Place } from '../place.ts';
import { standing } from './line.ts';
import { decodeWithStarts, isReplaced, mayHoldOpening, percentEncode, rangesOf } from './percent.ts';

/** Every text can, percent-encoded. */
const inQuery = { place: 'the query', fits: () => true, why: '' };

/**
 * The expressions in the names and values of a query, each percent-decoded by itself, `+` as a blank. Everything else
 * stays byte for byte.
 */
export function findInQuery(query: string, most: number): Place[] {
  const places: Place[] = [];
  if (!mayHoldOpening(query)) return places;
  let start = query.startsWith('?') ? 1 : 0;
  for (const pair of query.slice(start).split('&')) {
    const equals = pair.indexOf('=');
    const texts = equals === -1 ? [pair] : [pair.slice(0, equals), pair.slice(equals + 1)];
    for (const text of texts) {
      addPlaces(places, { text, start }, most);
      start += text.length + 1;
    }
  }
  return places;
}

function addPlaces(places: Place[], { text: source, start }: { text: string; start: number }, most: number): void {
  if (!mayHoldOpening(source)) return;
  const { text, starts } = decodeWithStarts(source, { plusIsBlank: true });
  const ranges = rangesOf(readExpressions(text, most), (unit) => start + (starts[unit] ?? 0));
  for (const { segment, ...range } of ranges) {
    if (!isReplaced(segment)) continue;
    const segments = [segment];
    const fault = faultIn(segments);
    places.push({
      name: 'query',
      ...range,
      segments,
      ...(fault && { fault: () => fault.within('of a parameter of the query') }),
      write: (resolve) => percentEncode(standing(segment, resolve, inQuery)),
    });
  }
}
