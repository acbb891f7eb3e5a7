import { faultIn, type Segment } from '@sluice/vault';
import { opening, type Place, quoted, type TextFinder, textOf } from './place.ts';

/** How an expression can begin. A form without it is not split into its pairs, of which it may have millions. */
const beginning = /\{|%7b/gi;

/** The values of a form (WHATWG URL, application/x-www-form-urlencoded) that hold expressions. Names stay. */
export class FormTexts implements TextFinder {
  position = 0;
  readonly #latin1: string;
  #nameStart = 0;
  #start = 0;

  constructor(latin1: string) {
    this.#latin1 = latin1;
  }

  next(until: number): string | undefined {
    const latin1 = this.#latin1;
    while (this.position < until) {
      beginning.lastIndex = this.position;
      const found = beginning.exec(latin1);
      if (!found) {
        this.position = latin1.length;
        return undefined;
      }
      const pairStart = latin1.lastIndexOf('&', found.index) + 1;
      const end = endOfPair(latin1, found.index);
      this.position = end;
      const equals = latin1.slice(pairStart, end).indexOf('=');
      if (equals === -1) continue;
      const start = pairStart + equals + 1;
      const text = decodeValue(latin1.slice(start, end));
      if (!text.includes(opening)) continue;
      this.#nameStart = pairStart;
      this.#start = start;
      return text;
    }
    return undefined;
  }

  place(segments: readonly Segment[]): Place {
    const [latin1, nameStart, start] = [this.#latin1, this.#nameStart, this.#start];
    const fault = faultIn(segments);
    const name = () => quoted(decodeValue(latin1.slice(nameStart, start - 1)));
    return {
      start,
      end: this.position,
      segments,
      ...(fault && { fault: () => fault.within(`of the field ${name()}`) }),
      write: (resolve) => encodeValue(textOf(segments, resolve)),
    };
  }
}

function endOfPair(latin1: string, from: number): number {
  const end = latin1.indexOf('&', from);
  return end === -1 ? latin1.length : end;
}

function decodeValue(latin1: string): string {
  return new URLSearchParams(`v=${Buffer.from(latin1, 'latin1').toString()}`).get('v') ?? '';
}

function encodeValue(text: string): string {
  return new URLSearchParams([['v', text]]).toString().slice(2);
}
