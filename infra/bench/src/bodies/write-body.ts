import type { Writable } from 'node:stream';

const block = Buffer.alloc(64 * 1024, 0xa5);

/** Writes this many bytes as fast as they are taken, and ends the stream. */
export function writeBody(stream: Writable, sizeBytes: number): void {
  let left = sizeBytes;
  const writeOn = () => {
    while (left > 0) {
      const part = left < block.length ? block.subarray(0, left) : block;
      left -= part.length;
      if (!stream.write(part)) return;
    }
    stream.off('drain', writeOn).end();
  };
  stream.on('drain', writeOn);
  writeOn();
}
