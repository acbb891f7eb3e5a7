import { allowsPath } from '@sluice/access';
import type { ServiceError } from '@sluice/problems';
import { faultIn, InvalidExpression, readExpressions, type Segment } from '@sluice/vault';
import { hasFilter, type Place } from '../place.ts';
import { cannotStandIn, type Resolve, standing } from './line.ts';
import { decodeTwice, decodeWithStarts, isReplaced, mayHoldOpening, percentEncode, rangesOf } from './percent.ts';

/**
 * The segments of a path that hold expressions once they are percent-decoded. A `/` in a value is sent as `%2F`; the
 * text around an expression stays byte for byte. `isJudged` if the Proxy has `allowed_paths`: they were judged by the text
 * of the expressions, so each value must stand for a text that is not empty, and no filter may make one.
 */
export function findInPath(path: string, most: number, isJudged = false): Place[] {
  const places: Place[] = [];
  if (!mayHoldOpening(path)) return places;
  let start = 0;
  for (const source of path.split('/')) {
    const place = placeOf(source, start, { most, isJudged });
    if (place) places.push(place);
    start += source.length + 1;
  }
  return places;
}

interface Finding {
  most: number;
  isJudged: boolean;
}

function placeOf(source: string, start: number, { most, isJudged }: Finding): Place | undefined {
  if (!mayHoldOpening(source)) return undefined;
  const { text, starts } = decodeWithStarts(source, { plusIsBlank: false });
  const segments = readExpressions(text, most);
  if (!segments.some(isReplaced)) return undefined;
  const parts = rangesOf(segments, (unit) => starts[unit] ?? 0).map(({ segment, ...range }) =>
    isReplaced(segment) ? segment : source.slice(range.start, range.end),
  );
  const fault = faultIn(segments) ?? (isJudged ? filterIn(segments) : undefined);
  return {
    name: 'path',
    start,
    end: start + source.length,
    segments,
    ...(fault && { fault: () => fault.within('of a segment of the path') }),
    write: (resolve) => (isJudged ? writeJudged(parts, resolve) : writeSegment(parts, resolve)),
  };
}

function filterIn(segments: readonly Segment[]): InvalidExpression | undefined {
  const filtered = segments.find(hasFilter);
  const reason = 'it must not have a filter, because the Proxy has allowed_paths';
  return filtered && new InvalidExpression(filtered.kind === 'expression' ? filtered.start : 0, reason);
}

function writeJudged(parts: readonly Part[], resolve: Resolve): string {
  for (const part of parts) if (typeof part !== 'string') standing(part, resolve, notEmpty);
  const text = writeSegment(parts, resolve);
  if (allowsPath(['/*'], `/${text}`)) return text;
  throw cannotStand(parts);
}

const notEmpty = {
  place: 'the path',
  fits: (value: string) => value !== '',
  why: 'an empty text is not allowed there, because the Proxy has allowed_paths',
};

/** Text as it was sent, or something that is replaced. */
type Part = string | Segment;

function writeSegment(parts: readonly Part[], resolve: Resolve): string {
  const whole = written(parts, resolve);
  if (isSegment(whole)) return whole.text;
  const unfiltered = written(parts, (e) => (e.filters.length > 0 ? null : resolve(e)));
  if (isSegment(unfiltered)) return unfiltered.text;
  throw cannotStand(parts);
}

interface Written {
  text: string;
  /** How many separators the text may have for a server that decodes it twice. */
  separators: number;
}

function written(parts: readonly Part[], resolve: Resolve): Written {
  let text = '';
  let separators = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      separators += separatorsIn(part);
      continue;
    }
    const value = standing(part, resolve, inPath);
    text += percentEncode(value);
    separators += slashesIn(value);
  }
  return { text, separators };
}

const inPath = {
  place: 'the path',
  fits: hasPlainSlashesOnly,
  why: 'it has a backslash, a NUL or a percent-encoded slash',
};

const separator = /[/\\\0]/g;

function separatorsIn(source: string): number {
  return decodeTwice(source).match(separator)?.length ?? 0;
}

function slashesIn(value: string): number {
  return value.split('/').length - 1;
}

function hasPlainSlashesOnly(value: string): boolean {
  return separatorsIn(value) === slashesIn(value);
}

/** Neither a separator that the parts make only together, nor a part that leads up (RFC 3986 section 5.2.4). */
function isSegment({ text, separators }: Written): boolean {
  if (separatorsIn(text) !== separators) return false;
  return decodeTwice(text)
    .split(/[/\\]/)
    .every((part) => !/^\.\.?(?:;|$)/.test(part));
}

function cannotStand(parts: readonly Part[]): ServiceError {
  const [first] = parts.filter((part) => typeof part !== 'string');
  return cannotStandIn(
    'the path',
    first ?? { kind: 'literal', text: '' },
    'with it, some server could read an empty segment, a segment . or .., or an additional slash',
  );
}
