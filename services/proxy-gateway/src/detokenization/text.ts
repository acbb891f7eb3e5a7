import { isUtf8 } from 'node:buffer';
import { toText } from '@sluice/vault';
import { expressionsIn, type Place } from './place.ts';

const xmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => xmlEntities[c] ?? c);
}

/** The expressions of a text: each is a place of its own, and all between them stays. */
export function findInText(body: Buffer, kind: 'plain' | 'xml'): Place[] {
  // What is not UTF-8 is read byte for byte.
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  const text = body.toString(encoding);
  const escapeText = kind === 'xml' ? escapeXml : (value: string) => value;
  const places: Place[] = [];
  // Positions in the text are not those in the body where it is not ASCII: count the bytes on the way.
  let byte = 0;
  for (const segment of expressionsIn(text) ?? []) {
    const start = byte;
    byte += Buffer.byteLength(
      segment.kind === 'literal' ? segment.text : text.slice(segment.start, segment.end),
      encoding,
    );
    if (segment.kind === 'literal') continue;
    places.push({ start, end: byte, segments: [segment], write: (resolve) => escapeText(toText(resolve(segment))) });
  }
  return places;
}
