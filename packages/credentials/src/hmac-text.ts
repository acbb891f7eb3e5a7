import { createHmac, hash, type KeyObject } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
const mostTextBytes = 384;

/** Reused, because new buffers would come from Node's shared pool and leave the padded key there. */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const padsOf = new WeakMap<KeyObject, Pads>();

/**
 * HMAC-SHA-256 (RFC 2104) of a text in UTF-8; the result has a character for each byte. For short texts three times as
 * fast as `createHmac`.
 */
export function hmacText(key: KeyObject, text: string): string {
  if (text.length * 3 > mostTextBytes) return createHmac('sha256', key).update(text).digest('latin1');
  let pads = padsOf.get(key);
  if (!pads) {
    pads = computePads(key);
    padsOf.set(key, pads);
  }
  const { inner, outer } = pads;
  const end = blockBytes + inner.write(text, blockBytes);
  outer.write(hash('sha256', inner.subarray(0, end), 'latin1'), blockBytes, 'latin1');
  return hash('sha256', outer, 'latin1');
}

function computePads(key: KeyObject): Pads {
  const exported = key.export();
  const bytes = exported.length > blockBytes ? hash('sha256', exported, 'buffer') : exported;
  const inner = Buffer.alloc(blockBytes + mostTextBytes, 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c);
  bytes.forEach((byte, i) => {
    inner.writeUInt8(byte ^ 0x36, i);
    outer.writeUInt8(byte ^ 0x5c, i);
  });
  bytes.fill(0);
  exported.fill(0);
  return { inner, outer };
}
