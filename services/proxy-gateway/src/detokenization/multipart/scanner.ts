import { ServiceError } from '@sluice/problems';
import { malformedBody } from '../place.ts';
import { type Delimiter, DelimiterFinder } from './delimiter.ts';
import { type FieldKind, type PartReading, readPartHeader } from './part-header.ts';

export interface Field {
  start: number;
  end: number;
  name: string;
  kind: FieldKind;
  type: string | undefined;
}

export interface Scan {
  /** The window has been read up to here. The rest needs more of the body. */
  end: number;
  fields: readonly Field[];
}

interface Window {
  text: string;
  isLast: boolean;
  fields: Field[];
  parts: number;
}

interface Step {
  position: number;
  waits?: boolean;
}

type State =
  | { at: 'preamble' | 'content'; begins: 'body' | 'content' | undefined; reading: Reading }
  | { at: 'header' | 'epilogue' }
  | { at: 'broken'; error: ServiceError };

type Reading = Exclude<PartReading, { mode: 'refuse' }> | { mode: 'refuse'; error: ServiceError };

/** Many parts of a few bytes take longer to read than a few long ones. */
const mostParts = 10_000;
const longestHeaderBytes = 16 * 1024;
/** As bytes of UTF-8, and of UTF-16. */
const opening = /(?:\{|\\u007b){2}|\{\0\{/i;
const longestOpening = '\\u007b\\u007b'.length;
const bareLineBreak = /\r(?!\n)|(?<!\r)\n/;

/** Each window starts with the unread rest of the last one. An expression where parsers could disagree is refused. */
export class MultipartScanner {
  readonly #finder: DelimiterFinder;
  readonly #longestFieldBytes: number;
  #state: State;

  constructor(boundary: string | undefined, longestFieldBytes: number) {
    this.#finder = new DelimiterFinder(boundary ?? '');
    this.#longestFieldBytes = longestFieldBytes;
    const error = malformedBody('multipart/form-data: its Content-Type must name exactly one boundary');
    const reading = { mode: 'refuse', error: malformedForm('it has an expression outside of its parts') } as const;
    this.#state = boundary === undefined ? { at: 'broken', error } : { at: 'preamble', begins: 'body', reading };
  }

  /** @throws {ServiceError} `bad_request` where parsers could disagree, `payload_too_large` for too long a field. */
  scan(text: string, isLast: boolean): Scan {
    const window: Window = { text, isLast, fields: [], parts: 0 };
    for (let position = 0; ; ) {
      const step = this.#step(window, position);
      if (step.waits) return { end: isLast ? text.length : step.position, fields: window.fields };
      ({ position } = step);
    }
  }

  #step(window: Window, position: number): Step {
    const state = this.#state;
    switch (state.at) {
      case 'header':
        return this.#readHeader(window, position);
      case 'epilogue':
        return { position: window.text.length, waits: true };
      case 'broken':
        refuseOpening(window.text.slice(position), state.error);
        return { position: Math.max(position, window.text.length - longestOpening + 1), waits: true };
      default: {
        const { begins, reading } = state;
        const delimiter = this.#finder.find(window.text, { from: position, begins, isLast: window.isLast });
        if (!delimiter || delimiter.kind === 'unfinished') return this.#wait(window, position, delimiter);
        if (delimiter.kind === 'uncertain') {
          if (reading.mode === 'refuse') refuseOpening(window.text.slice(position, delimiter.start), reading.error);
          this.#break(
            'only some parsers would read a line with its boundary as a delimiter; put CRLF before and after each delimiter, and no blanks into it',
          );
          return { position: reading.mode === 'read' ? position : delimiter.start };
        }
        endContent(window, { ...reading, start: position, end: delimiter.start });
        this.#state = { at: delimiter.kind === 'part' ? 'header' : 'epilogue' };
        return { position: delimiter.end };
      }
    }
  }

  #wait({ text, isLast }: Window, position: number, delimiter: Delimiter | undefined): Step {
    const state = this.#state;
    if (state.at !== 'content' && state.at !== 'preamble') return { position, waits: true };
    if (state.reading.mode === 'read') {
      if (isLast) {
        this.#break('its last part has no end');
        return { position };
      }
      if (text.length - position <= this.#longestFieldBytes) return { position, waits: true };
      state.reading = { mode: 'refuse', error: fieldTooLong(this.#longestFieldBytes) };
    }
    if (state.reading.mode === 'refuse') refuseOpening(text.slice(position), state.reading.error);
    const tail = Math.max(this.#finder.tailBytes, longestOpening);
    const end = Math.max(position, Math.min(delimiter?.start ?? text.length, text.length - tail));
    if (end > position) state.begins = undefined;
    return { position: end, waits: true };
  }

  #readHeader(window: Window, position: number): Step {
    const { text, isLast } = window;
    const isEmpty = text.startsWith('\r\n', position);
    const end = isEmpty ? position : text.indexOf('\r\n\r\n', position);
    const sizeBytes = (end === -1 ? text.length : end) - position;
    if (sizeBytes > longestHeaderBytes) return this.#break('the header of a part is too long', position);
    if (end === -1)
      return isLast ? this.#break('it ends in the header of a part', position) : { position, waits: true };
    const block = text.slice(position, end);
    if (++window.parts > mostParts) throw tooManyParts();
    if (bareLineBreak.test(block)) return this.#break('lines of a header must end with CRLF', position);
    if (this.#finder.isIn(block)) return this.#break('its boundary is in the header of a part', position);
    const reading = readPartHeader(block);
    this.#state = {
      at: 'content',
      begins: 'content',
      reading: reading.mode === 'refuse' ? { mode: 'refuse', error: uncertainPart(reading) } : reading,
    };
    return { position: isEmpty ? end + 2 : end + 4 };
  }

  #break(why: string, position = 0): Step {
    this.#state = { at: 'broken', error: malformedForm(why) };
    return { position };
  }
}

function endContent({ text, fields }: Window, part: Reading & { start: number; end: number }): void {
  if (part.mode === 'pass') return;
  const content = text.slice(part.start, part.end);
  if (part.mode === 'refuse') refuseOpening(content, part.error);
  else if (opening.test(content)) {
    const { start, end, name, kind, type } = part;
    fields.push({ start, end, name, kind, type });
  }
}

function refuseOpening(text: string, error: ServiceError): void {
  if (opening.test(text)) throw error;
}

function malformedForm(why: string): ServiceError {
  return malformedBody(`multipart/form-data: ${why}`);
}

function tooManyParts(): ServiceError {
  return new ServiceError('bad_request', `A body with expressions may have at most ${mostParts} parts`, {
    limit: 'form_parts',
  });
}

export function uncertainPart({ why, isOfCharset }: PartReading & { mode: 'refuse' }): ServiceError {
  const code = isOfCharset ? 'unsupported_media_type' : 'bad_request';
  return new ServiceError(code, `A part of the multipart body has an expression, but ${why}`);
}

function fieldTooLong(bytes: number): ServiceError {
  const detail = `A body of this size is streamed, so a part with an expression may have at most ${bytes} bytes`;
  return new ServiceError('payload_too_large', detail, { limit: 'field_size' });
}
