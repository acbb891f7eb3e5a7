/** The most that V8 takes for an object, an array, an element of either, and a name. */
const objectBytes = 56;
const arrayBytes = 40;
const placeBytes = 16;
const nameBytes = 16;

const [brace = 0, bracket = 0, comma = 0, colon = 0] = Buffer.from('{[,:');

/**
 * An upper limit for the memory of a JSON text once parsed. Marks within strings count too, because one pass is fast.
 */
export function parsedBytes(json: Uint8Array): number {
  let bytes = json.length;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === comma) bytes += placeBytes;
    else if (byte === colon) bytes += nameBytes;
    else if (byte === brace) bytes += objectBytes;
    else if (byte === bracket) bytes += arrayBytes;
  }
  return bytes;
}
