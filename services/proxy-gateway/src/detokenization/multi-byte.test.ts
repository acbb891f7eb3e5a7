import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { charsetNamed } from '@sluice/sandbox';
import type { Json } from '@sluice/vault';
import fc from 'fast-check';
import { alone } from '../testing/reveal-alone.ts';
import { bodyCharset } from './body-charset.ts';
import { fillPlaces } from './detokenize.ts';
import { findExpressions } from './find-expressions.ts';
import { asciiOf } from './multi-byte.ts';
import { RevealStream } from './stream/reveal-stream.ts';

const names = ['big5', 'euc-jp', 'euc-kr', 'gb18030', 'gbk', 'shift_jis'];
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const ascii = (text: string) => text.replace(/[^\0-\x7f]/g, '');

/** WHATWG Encoding, by trial of each byte and pair. The digits of GB 18030's long characters count as digits. */
function referenceOf(bytes: Buffer, name: string): string {
  const { decode } = charsetNamed(name);
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const [byte = 0, next = 0] = bytes.subarray(at, at + 2);
    if (byte < 0x80) text += String.fromCharCode(byte);
    else if (isLead(byte, name) && (next >= 0x80 || decode(bytes.subarray(at, at + 2)) !== undefined)) at += 1;
  }
  return text;
}

/** Bytes that begin a character of two, that is, all but those that are one or begin nothing. */
function isLead(byte: number, name: string): boolean {
  if (byte === 0x80 || byte === 0xff || (name === 'shift_jis' && (byte === 0xa0 || byte > 0xfc))) return false;
  return charsetNamed(name).decode(Uint8Array.of(byte)) === undefined;
}

test.each(names.filter((name) => name !== 'euc-jp'))('%s: the ASCII of any bytes is what a decoder sees', (name) => {
  const charset = charsetNamed(name);
  const byte = fc.oneof(fc.constantFrom(...Buffer.from('{}[]\\|<>"a@~')), fc.integer({ min: 0x80, max: 0xff }));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (bytes, step) => {
      const body = Buffer.from(bytes);
      const expected = referenceOf(body, name);
      expect(ascii(asciiOf(body.toString('latin1'), charset))).toBe(expected);
      let seen = '';
      for (let from = 0, to = step; from < body.length; to += step) {
        const text = asciiOf(body.toString('latin1', from, to), charset, to >= body.length);
        seen += text;
        from += text.length;
      }
      expect(ascii(seen)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

/** Characters whose second byte is one that means something in a document or an expression. */
function awkward(name: string): string[] {
  const { decode, encode } = charsetNamed(name);
  const found: string[] = [];
  for (const trail of Buffer.from('{}[]\\|^@`~aA')) {
    const lead = range(0x81, 0xfe).find((byte) => {
      const text = decode(Uint8Array.of(byte, trail));
      return text !== undefined && text.length === 1 && encode(text)?.[1] === trail;
    });
    if (lead !== undefined) found.push(decode(Uint8Array.of(lead, trail)) ?? '');
  }
  return found.length > 0 ? found : [decode(Uint8Array.of(0xe9)) ?? '\u3042'];
}

interface Part {
  source: string;
  /** What is sent, with the value written as references and as it is. */
  sent(references: string, value: string): string;
}

const same = (source: string): Part => ({ source, sent: () => source });

const placesOf = {
  xml: [
    { source: '{{t}}', sent: (references: string) => references },
    { source: '<a b="{{ t }}">', sent: (references: string) => `<a b="${references}">` },
    { source: '<![CDATA[{{t}}]]>', sent: (_: string, value: string) => `<![CDATA[${value}]]>` },
    { source: '<!--{{t}}-->', sent: (_: string, value: string) => `<!--${value}-->` },
    { source: '<?p {{t}}?>', sent: (_: string, value: string) => `<?p ${value}?>` },
  ],
  html: [
    { source: '{{t}}', sent: (references: string) => references },
    { source: '<p title={{t}}>', sent: (references: string) => `<p title=${references}>` },
    { source: '<script>{{t}}</script>', sent: (_: string, value: string) => `<script>${value}</script>` },
    { source: '<!--{{t}}-->', sent: (_: string, value: string) => `<!--${value}-->` },
  ],
} as const;

function partsOf(kind: 'xml' | 'html', name: string): fc.Arbitrary<Part[]> {
  const characters = name.startsWith('utf-16') ? ['\u7b7b', '\u4e00'] : awkward(name);
  const plain = fc.constantFrom(...characters, 'a', ' ', '{-', '}', ']', '>').map(same);
  const quoted = fc.constantFrom(...characters).map((c) => {
    return { source: `{{ '${c}{' }}`, sent: () => `${referencesOf(c, name)}{` };
  });
  return fc.array(fc.oneof(plain, plain, fc.constantFrom<Part>(...placesOf[kind]), quoted), { maxLength: 12 });
}

function referencesOf(text: string, name: string): string {
  return name.startsWith('utf-16') ? text : text.replace(/[^\0-\x7f]/gu, (c) => `&#${c.codePointAt(0)};`);
}

const beginnings = {
  xml: (name: string, quote: string) => `<?xml version="1.0" encoding=${quote}${name}${quote}?>`,
  html: (name: string, quote: string) => `<!DOCTYPE html><meta charset=${quote}${name}${quote}>`,
};

function whole(body: Buffer, kind: 'xml' | 'html', values: ReadonlyMap<string, Json>): Buffer {
  const charset = bodyCharset(kind, ['Content-Type', `text/${kind}`], body);
  return fillPlaces(body, findExpressions(body, kind, { charset }), { values, limitBytes: 2 ** 20 });
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

function* split(body: Buffer, sizes: readonly number[]) {
  for (let at = 0, i = 0; at < body.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    yield body.subarray(at, at + size);
    at += size;
  }
}

describe.each(['xml', 'html'] as const)('%s', (kind) => {
  test.each([...names, 'windows-1252', 'iso-8859-5', 'utf-16le', 'utf-16be'])(
    'that declares %s is filled as a decoder reads it, wherever it is divided',
    async (name) => {
      const charset = charsetNamed(name);
      const value = ['a\u4e00', 'a\u0451', 'a\u00e9'].find((text) => charset.encode(text)) ?? '';
      const references = referencesOf(value, name);
      const values = new Map<string, Json>([['t', value]]);
      const filler = fc.constantFrom('', '', 'x'.repeat(1100));
      const windows = fc.integer({ min: 1, max: 40 });
      const options = [partsOf(kind, name), filler, fc.constantFrom('"', "'"), windows, chunkSizes] as const;
      const property = fc.asyncProperty(...options, async (parts, more, quote, windowBytes, sizes) => {
        const mark = name.startsWith('utf-16') ? '\ufeff' : '';
        const beginning = `${mark}${beginnings[kind](name, quote)}${more}`;
        const source = [beginning, ...parts.map((part) => part.source)].join('');
        const sent = [beginning, ...parts.map((part) => part.sent(references, value))].join('');
        const body = charset.encode(source) ?? Buffer.alloc(0);
        const charsetOf = (start: Buffer) => bodyCharset(kind, ['Content-Type', `text/${kind}`], start);
        const fetchValues = async () => values;
        const stream = new RevealStream({ ...alone, kind, charsetOf, fetchValues, limitBytes: 2 ** 20, windowBytes });
        const streamed = await buffer(Readable.from(split(body, sizes), { objectMode: false }).compose(stream));
        expect(charset.decode(streamed)).toBe(sent);
        if (mark === '') expect(whole(body, kind, values)).toEqual(streamed);
      });
      await fc.assert(property, { numRuns: 60 });
    },
  );
});
