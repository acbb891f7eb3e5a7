import { faultIn } from '@sluice/vault';
import { addPlace, expressionsIn, type Place, quoted, textOf } from './place.ts';

/** How an expression can begin; forms of millions of pairs without it are not taken apart. */
const opening = /\{|%7b/gi;

/** The values of a form (WHATWG URL, application/x-www-form-urlencoded) that hold expressions. Names stay. */
export function findInForm(latin1: string): Place[] {
  const places: Place[] = [];
  for (let position = 0; ; ) {
    opening.lastIndex = position;
    const found = opening.exec(latin1);
    if (!found) return places;
    const pairStart = latin1.lastIndexOf('&', found.index) + 1;
    const end = endOfPair(latin1, found.index);
    position = end;
    const equals = latin1.slice(pairStart, end).indexOf('=');
    if (equals === -1) continue; // a name alone
    const start = pairStart + equals + 1;
    const segments = expressionsIn(decodeValue(latin1.slice(start, end)));
    if (!segments) continue;
    const fault = faultIn(segments);
    const name = () => quoted(decodeValue(latin1.slice(pairStart, start - 1)));
    addPlace(places, {
      start,
      end,
      segments,
      ...(fault && { fault: () => fault.within(`of the field ${name()}`) }),
      write: (resolve) => encodeValue(textOf(segments, resolve)),
    });
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
