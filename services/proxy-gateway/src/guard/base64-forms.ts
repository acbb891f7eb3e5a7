import type { Form } from './pattern.ts';

const common = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const alphabets = {
  base64: [...Buffer.from(`${common}+/`)],
  base64url: [...Buffer.from(`${common}-_`)],
};

const ofBase64 = new Set([...alphabets.base64, ...alphabets.base64url]);

export function isOfBase64(byte: number | undefined): boolean {
  return byte !== undefined && ofBase64.has(byte);
}

/**
 * In base64 a value is written in three ways, by the number of bytes before it modulo 3. Its first and last character
 * may carry bits of its neighbours as well. Each possible last character is a part of the pattern. The first is not,
 * because 16 of them would make 16 patterns. It carries at most 4 bits, which are replaced without being compared.
 */
export function base64Forms(value: Buffer): Form[] {
  const padded = Buffer.concat([Buffer.alloc(mostOffset), value]);
  const forms: Form[] = [];
  for (let offset = 0; offset <= mostOffset; offset++) {
    const from = padded.subarray(mostOffset - offset);
    forms.push(formOf(from, offset, 'base64'), formOf(from, offset, 'base64url'));
  }
  return forms;
}

const mostOffset = 2;

/** @param padded the value behind as many bytes as `offset`. */
function formOf(padded: Buffer, offset: number, encoding: keyof typeof alphabets): Form {
  const text = padded.toString(encoding);
  // Of the characters before the value, the last one carries its first bits
  const start = offset === 0 ? 0 : offset + 1;
  const bits = padded.length * 8;
  const end = Math.floor(bits / 6);
  const bytes = Buffer.from(text.slice(start, end));
  const known = bits % 6;
  return {
    bytes,
    ...(known > 0 && { last: sharing(known, text.charCodeAt(end), alphabets[encoding]) }),
    ...(offset > 0 && { hasHead: true }),
  };
}

/** All characters whose first `known` bits are those of `character`; its other bits are 0. */
function sharing(known: number, character: number, alphabet: readonly number[]): number[] {
  const first = alphabet.indexOf(character);
  return alphabet.slice(first, first + 2 ** (6 - known));
}
