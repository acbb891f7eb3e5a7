import type { Socket } from 'node:net';

const longestHead = 16 * 1024;
const digitOne = 0x31;
const none: Buffer = Buffer.alloc(0);

/**
 * Hides an unsolicited `100 Continue` (RFC 9110 section 15.2) from undici. Call the returned function before each head.
 */
export function passOverContinue(socket: Socket): () => void {
  const read = socket.read.bind(socket);
  let awaitsHead = false;
  let held: Buffer = none;

  socket.read = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size);
    if (!awaitsHead || chunk === null) return chunk;
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = endOfContinues(bytes);
    held = none;
    if (end === 'not known yet' && bytes.length <= longestHead) {
      held = bytes;
      return null;
    }
    awaitsHead = false;
    return typeof end === 'number' && end > 0 ? bytes.subarray(end) : bytes;
  };

  return () => {
    awaitsHead = true;
    held = none;
  };
}

function endOfContinues(bytes: Buffer): number | 'not known yet' {
  let position = 0;
  for (;;) {
    if (bytes.length >= position + 12 && bytes[position + 9] !== digitOne) return position; // most heads are like that
    const start = bytes.toString('latin1', position, position + 12);
    if (start.length < 12) return 'HTTP/1.'.startsWith(start.slice(0, 7)) ? 'not known yet' : position;
    if (!/^HTTP\/1\.[01] 100/.test(start)) return position;
    const end = bytes.indexOf('\r\n\r\n', position);
    // A head without a valid end is left for the parser to refuse
    if (end === -1) return bytes.includes('\n\n', position) ? position : 'not known yet';
    position = end + 4;
  }
}
