import { toText } from '@sluice/vault';
import { expressionsIn, type Place } from './place.ts';

/** The values of a form (WHATWG URL, application/x-www-form-urlencoded) that hold expressions. Names stay. */
export function findInForm(latin1: string): Place[] {
  const places: Place[] = [];
  let pairStart = 0;
  for (const pair of latin1.split('&')) {
    const start = pairStart + pair.indexOf('=') + 1;
    const end = pairStart + pair.length;
    pairStart = end + 1;
    if (start === end - pair.length) continue; // no "=": a name alone
    const segments = expressionsIn(decodeValue(latin1.slice(start, end)));
    if (!segments) continue;
    places.push({
      start,
      end,
      segments,
      write: (resolve) =>
        encodeValue(segments.map((s) => (s.kind === 'literal' ? s.text : toText(resolve(s)))).join('')),
    });
  }
  return places;
}

function decodeValue(latin1: string): string {
  return new URLSearchParams(`v=${Buffer.from(latin1, 'latin1').toString()}`).get('v') ?? '';
}

function encodeValue(text: string): string {
  return new URLSearchParams([['v', text]]).toString().slice(2);
}
