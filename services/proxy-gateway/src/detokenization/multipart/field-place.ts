import { ServiceError } from '@sluice/problems';
import type { Expression, Json } from '@sluice/vault';
import { faultInPlaces } from '../detokenize.ts';
import { type Place, quoted } from '../place.ts';
import type { DelimiterFinder } from './delimiter.ts';

type Resolve = (expression: Expression) => Json;

export interface FilledField {
  start: number;
  name: string;
  content: Buffer;
  /** Positions are relative to the content. */
  places: readonly Place[];
}

/** A filter's result that would end the part is omitted, because an error would reveal something about the value. */
export function fieldPlace({ start, name, content, places }: FilledField, finder: DelimiterFinder): Place {
  const segments = places.flatMap((place) => place.segments);
  const hasFilters = segments.some((segment) => segment.kind === 'expression' && segment.filters.length > 0);
  return {
    start,
    end: start + content.length,
    segments,
    encoding: 'latin1',
    fault: () => faultInPlaces(places)?.within(`in the part ${quoted(utf8(name))}`),
    write(resolve) {
      const unfiltered = fill(content, places, (e) => (e.filters.length > 0 ? null : resolve(e)));
      if (finder.isIn(unfiltered)) throw holdsBoundary(name);
      if (!hasFilters) return unfiltered;
      const filled = fill(content, places, resolve);
      return finder.isIn(filled) ? unfiltered : filled;
    },
  };
}

/** Latin-1 keeps every byte of the content as it came. */
function fill(content: Buffer, places: readonly Place[], resolve: Resolve): string {
  const parts: string[] = [];
  let position = 0;
  for (const place of places) {
    const text = place.write(resolve);
    parts.push(content.toString('latin1', position, place.start), place.encoding === 'latin1' ? text : latin1(text));
    position = place.end;
  }
  parts.push(content.toString('latin1', position));
  return parts.join('');
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function utf8(latin1Text: string): string {
  return Buffer.from(latin1Text, 'latin1').toString();
}

function holdsBoundary(name: string): ServiceError {
  const detail = `After replacing tokens the part ${quoted(utf8(name))} contains the boundary of the body. Send the body with another boundary`;
  return new ServiceError('bad_request', detail);
}
