import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, deflateRawSync, deflateSync, zstdCompressSync } from 'node:zlib';
import { decodeBody, decodeWhileStreaming } from './content-coding.ts';

const zstd = (windowLog: number) =>
  zstdCompressSync(Buffer.alloc(1000), {
    params: { [constants.ZSTD_c_windowLog]: windowLog, [constants.ZSTD_c_contentSizeFlag]: 0 },
  });

test('a zstd body that asks for a window of over 8 MiB is refused, whatever its size', async () => {
  const header = zstd(23);
  expect(await decodeBody(header, ['zstd'], 10_000)).toHaveLength(1000);
  await expect(decodeBody(withWindow(header, 27), ['zstd'], 10_000)).rejects.toMatchObject({ code: 'bad_request' });
});

/** The window of a frame with several segments is after its descriptor (RFC 8878 section 3.1.1.1.2). */
function withWindow(frame: Buffer, windowLog: number): Buffer {
  const magicAndDescriptor = frame.subarray(0, 5);
  const isSingleSegment = ((magicAndDescriptor[4] ?? 0) & 0x20) !== 0;
  if (isSingleSegment) throw new Error('the frame says no window');
  return Buffer.concat([magicAndDescriptor, Buffer.of((windowLog - 10) << 3), frame.subarray(6)]);
}

test.each([
  ['deflate', deflateSync],
  ['bare deflate', deflateRawSync],
])('bytes behind the end of a %s body are ignored, held or streamed', async (_, compress) => {
  const text = Buffer.alloc(500_000, 'hello');
  for (const tail of ['', 'tail', 'tail'.repeat(50_000)]) {
    const body = Buffer.concat([compress(text), Buffer.from(tail)]);
    const whole = await decodeBody(body, ['deflate'], text.length);
    const source = Readable.from([body.subarray(0, 100), body.subarray(100)], { objectMode: false });
    const decoded = decodeWhileStreaming(source, ['deflate']);
    decoded.resume().pause(); // `feed` starts with a reader
    expect([text.equals(whole), text.equals(await buffer(decoded))]).toEqual([true, true]);
  }
});
