import { hash, type KeyObject } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;

/** A key as HMAC puts it before what is hashed. */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const padsOf = new WeakMap<KeyObject, Pads>();

/**
 * HMAC-SHA-256 (RFC 2104) of a text as UTF-8; the result is a text with a character for each byte. The same as
 * `createHmac`, in a third of its time for texts as short as keys: an Hmac object is set up anew for each.
 */
export function hmacText(key: KeyObject, text: string): string {
  let pads = padsOf.get(key);
  if (!pads) {
    pads = makePads(key);
    padsOf.set(key, pads);
  }
  const inner = hash('sha256', Buffer.concat([pads.inner, Buffer.from(text)]), 'latin1');
  const { outer } = pads;
  outer.write(inner, blockBytes, 'latin1');
  return hash('sha256', outer, 'latin1');
}

function makePads(key: KeyObject): Pads {
  const exported = key.export();
  const bytes = exported.length > blockBytes ? hash('sha256', exported, 'buffer') : exported;
  const inner = Buffer.alloc(blockBytes, 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c);
  bytes.forEach((byte, i) => {
    inner.writeUInt8(byte ^ 0x36, i);
    outer.writeUInt8(byte ^ 0x5c, i);
  });
  bytes.fill(0);
  return { inner, outer };
}
