import { type Segment, toText } from '@sluice/vault';
import type { Place } from './place.ts';

const xmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => xmlEntities[c] ?? c);
}

export function placesInText(text: string, kind: 'text' | 'xml', segments: readonly Segment[]): Place[] {
  const escapeText = kind === 'xml' ? escapeXml : (value: string) => value;
  const places: Place[] = [];
  // A character may take several bytes in the body, so bytes are counted along the way
  let byte = 0;
  for (const segment of segments) {
    const start = byte;
    byte += Buffer.byteLength(segment.kind === 'literal' ? segment.text : text.slice(segment.start, segment.end));
    if (segment.kind === 'literal') continue;
    places.push({ start, end: byte, segments: [segment], write: (resolve) => escapeText(toText(resolve(segment))) });
  }
  return places;
}
