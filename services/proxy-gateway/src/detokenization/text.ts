import { isUtf8 } from 'node:buffer';
import { type Segment, toText } from '@sluice/vault';
import { opening, type Place } from './place.ts';

const xmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => xmlEntities[c] ?? c);
}

export interface DecodedText {
  text: string;
  encoding: 'utf8' | 'latin1';
}

/** Undefined if it holds no expression. A body that is not UTF-8 is read as Latin-1. */
export function decodeText(body: Buffer): DecodedText | undefined {
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  const text = body.toString(encoding);
  return text.includes(opening) ? { text, encoding } : undefined;
}

export function placesInText(
  { text, encoding }: DecodedText,
  kind: 'text' | 'xml',
  segments: readonly Segment[],
): Place[] {
  const escapeText = kind === 'xml' ? escapeXml : (value: string) => value;
  const places: Place[] = [];
  // A character may take several bytes in the body, so bytes are counted along the way
  let byte = 0;
  for (const segment of segments) {
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
