import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { faultIn, readExpressions, type Segment } from '@sluice/vault';
import { isSameName } from '../../http/header-list.ts';
import type { HeaderList, RequestMessage } from '../../http/message.ts';
import type { Place } from '../place.ts';
import { type FillingHeads, withValues } from './head-values.ts';
import { fillLines, type Line, type Resolve, standing } from './line.ts';
import type { Filling, Part } from './part.ts';
import { isReplaced, type Range, rangesOf } from './percent.ts';

const opening = '{{';

/** The expressions in all lines of one header. */
export function findInHeader(name: string, { headers }: RequestMessage, most: number): HeaderPart | undefined {
  let lines: Map<string, Line> | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const text = headers[i + 1] ?? '';
    if (!text.includes(opening) || !isSameName(headers[i] ?? '', name)) continue;
    const ranges = rangesOf(readExpressions(text, most), (unit) => unit);
    const places = ranges.filter(({ segment }) => isReplaced(segment)).map((range) => headerPlace(name, range));
    lines ??= new Map();
    lines.set(text, { text, places });
  }
  return lines && new HeaderPart(name, lines);
}

class HeaderPart implements Part<FillingHeads> {
  readonly names: readonly string[];
  readonly places: readonly Place[];
  readonly #name: string;
  /** By their text: lines that are equal are filled once. */
  readonly #lines: ReadonlyMap<string, Line>;

  constructor(name: string, lines: ReadonlyMap<string, Line>) {
    this.#name = name;
    this.names = [headerPlaceOf(name)];
    this.#lines = lines;
    this.places = [...lines.values()].flatMap(({ places }) => places);
  }

  fill(message: RequestMessage, filling: Filling, context: FillingHeads): AtOnceOrLater<RequestMessage> {
    return withValues(this.places, filling, context, (resolve) => {
      const filled = new Map<string, string>();
      for (const [source, line] of this.#lines) filled.set(source, fillHeaderLine(this.#name, line, resolve));
      const { headers, received } = message;
      return {
        ...message,
        headers: this.#with(filled, headers),
        filled: this.#with(filled, message.filled ?? received),
      };
    });
  }

  #with(filled: ReadonlyMap<string, string>, headers: HeaderList): HeaderList {
    return headers.map((text, i) => {
      const isValue = i % 2 === 1 && isSameName(headers[i - 1] ?? '', this.#name);
      return (isValue ? filled.get(text) : undefined) ?? text;
    });
  }
}

/** As the log of disclosures lists it. */
export function headerPlaceOf(name: string): string {
  return `header:${name.toLowerCase()}`;
}

export function fillHeaderLine(name: string, line: Line, resolve: Resolve): string {
  const [text = ''] = fillLines([line], resolve, { taken: name.length + 2, name: `the header ${name}` });
  return text;
}

/** Visible ASCII characters, with blanks only between them (RFC 9110 section 5.5). */
const fitting = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

const inHeader = {
  fits: (text: string) => fitting.test(text),
  why: 'it has characters other than printable ASCII, or a blank at its beginning or end',
};

/** A place in a line of a caller, or of the Proxy itself. */
export function headerPlace(name: string, { segment, start, end }: Range, isOfProxy = false): Place {
  const holding = { place: `the header ${name}${isOfProxy ? ' of the Proxy' : ''}`, ...inHeader, isOfProxy };
  const segments: readonly Segment[] = [segment];
  const fault = faultIn(segments);
  return {
    name: headerPlaceOf(name),
    start,
    end,
    segments,
    ...(fault && { fault: () => fault.within(`of the header ${name}`) }),
    write: (resolve) => standing(segment, resolve, holding),
  };
}
