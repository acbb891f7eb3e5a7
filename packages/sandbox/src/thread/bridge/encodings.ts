import { bytes, text } from './parameters.ts';

/** Encodings in which each byte is a character, so that a text may come in pieces. */
const oneByte = /^(ibm866|iso-8859-\d+(-i)?|koi8-[ru]|macintosh|windows-(874|125\d)|x-mac-cyrillic)$/;

export const encodingOperations = {
  encodingOfOneByte: (label: unknown) => {
    const { encoding } = new TextDecoder(text(label));
    if (oneByte.test(encoding)) return encoding;
    throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), {
      code: 'ERR_ENCODING_NOT_SUPPORTED',
    });
  },
  decodeOneByte: (encoding: unknown, data: unknown, fatal: unknown) =>
    new TextDecoder(text(encoding), { fatal: Boolean(fatal) }).decode(bytes(data)),
};
