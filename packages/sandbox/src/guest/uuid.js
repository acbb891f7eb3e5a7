/** The module `uuid` (RFC 9562): versions 3, 4, 5 and 7, and the functions on their text. */
import { toBase64 } from './base64.js';
import { bufferFromBase64 } from './bytes.js';
import { bridgeText } from './host.js';
import { encodeUtf8 } from './utf8.js';

const NIL = '00000000-0000-0000-0000-000000000000';
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const pattern =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/i;

/** @param {unknown} text */
const validate = (text) => typeof text === 'string' && pattern.test(text);

/** @param {string} text */
function parse(text) {
  if (!validate(text)) throw new TypeError('Invalid UUID');
  return Uint8Array.from(text.replaceAll('-', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** @param {ArrayLike<number>} bytes @param {number} [offset] */
function stringify(bytes, offset = 0) {
  const text = toText(Array.from(bytes).slice(offset, offset + 16));
  if (!validate(text)) throw new TypeError('Stringified UUID is invalid');
  return text;
}

/** @param {number[]} bytes */
function toText(bytes) {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** @param {number[]} bytes @param {number} version */
function withVersion(bytes, version) {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toText(bytes.slice(0, 16));
}

/** @param {string} hash @param {number} version */
function named(hash, version) {
  /** @param {string | ArrayLike<number>} name @param {string | ArrayLike<number>} namespace */
  const generate = (name, namespace) => {
    const space = typeof namespace === 'string' ? parse(namespace) : namespace;
    const bytes = typeof name === 'string' ? encodeUtf8(name) : name;
    const data = Uint8Array.from([...Array.from(space), ...Array.from(bytes)]);
    return withVersion([...bufferFromBase64(bridgeText('hash', hash, toBase64(data)))], version);
  };
  generate.DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  generate.URL = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';
  return generate;
}

function v7() {
  const bytes = [...bufferFromBase64(bridgeText('randomBytes', 16))];
  let time = Date.now();
  for (let index = 5; index >= 0; index -= 1) {
    bytes[index] = time % 256;
    time = Math.floor(time / 256);
  }
  return withVersion(bytes, 7);
}

/** @param {string} text */
function version(text) {
  if (!validate(text)) throw new TypeError('Invalid UUID');
  return Number.parseInt(text.slice(14, 15), 16);
}

export const exported = {
  v3: named('md5', 3),
  v4: () => bridgeText('randomUUID'),
  v5: named('sha1', 5),
  v7,
  NIL,
  MAX,
  parse,
  stringify,
  validate,
  version,
};
