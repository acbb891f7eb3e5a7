import type { Charset } from '@sluice/sandbox';

interface Bytes {
  /** Begins a character of two bytes. */
  isLead(byte: number): boolean;
  /** Characters whose second byte is ASCII or not. */
  pair: RegExp;
}

/** WHATWG Encoding, sections 10 to 13. In EUC-JP no byte of a larger character is ASCII. */
const ofCharset: Record<string, Bytes> = {
  big5: { isLead: isFrom81ToFe, pair: /[\x81-\xfe][\x40-\x7e\x80-\xff]/g },
  'euc-kr': { isLead: isFrom81ToFe, pair: /[\x81-\xfe][\x41-\x7e\x80-\xff]/g },
  gb18030: { isLead: isFrom81ToFe, pair: /[\x81-\xfe][\x40-\x7e\x80-\xff]/g },
  gbk: { isLead: isFrom81ToFe, pair: /[\x81-\xfe][\x40-\x7e\x80-\xff]/g },
  shift_jis: {
    isLead: (byte) => isFrom81ToFe(byte) && byte <= 0xfc && (byte < 0xa0 || byte >= 0xe0),
    pair: /[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xff]/g,
  },
};

function isFrom81ToFe(byte: number): boolean {
  return byte >= 0x81 && byte <= 0xfe;
}

const masked = '\x80';
const pairs = new Map<string, boolean>();

/**
 * The bytes as Latin-1, in which each character of ASCII is one of the body: the byte of `{` may also be the second one
 * of a larger character, and is masked there.
 * @param isLast otherwise a character that is not complete at the end is left out.
 */
export function asciiOf(latin1: string, charset: Charset, isLast = true): string {
  const bytes = ofCharset[charset.name];
  if (!bytes) return latin1;
  let end = 0;
  const text = latin1.replace(bytes.pair, (pair, at: number) => {
    if (pair.charCodeAt(1) < 0x80 && !isCharacter(pair, charset)) return pair;
    end = at + 2;
    return pair.charCodeAt(1) < 0x80 ? pair[0] + masked : pair;
  });
  const last = latin1.length - 1;
  return !isLast && end <= last && bytes.isLead(latin1.charCodeAt(last)) ? text.slice(0, -1) : text;
}

/** Otherwise the second byte is a character of its own (WHATWG Encoding, "restore byte"). */
function isCharacter(pair: string, { name, decode }: Charset): boolean {
  const key = name + pair;
  const known = pairs.get(key);
  if (known !== undefined) return known;
  const is = decode(Buffer.from(pair, 'latin1')) !== undefined;
  pairs.set(key, is);
  return is;
}
