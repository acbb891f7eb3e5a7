import { constants } from 'node:zlib';
import { slow } from '@sluice/testing';
import { compressionOperations } from './compression.ts';

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_LARGE_WINDOW } = constants;

/** @returns how many bytes were reserved at the most. */
function reservedFor(windowBits: number): number {
  let most = 0;
  const hold = (bytes: number) => {
    most = Math.max(most, bytes);
  };
  const params = { [BROTLI_PARAM_LGWIN]: windowBits, [BROTLI_PARAM_LARGE_WINDOW]: 1 };
  compressionOperations({ spend: () => {}, hold }).zlib('brotliCompressSync', 'eA==', { params });
  return most;
}

test('a larger window of Brotli reserves more memory', () => {
  expect(reservedFor(24)).toBeGreaterThan(2 ** 27);
});

test.each([30 - 2 ** 32, 2 ** 32 + 24, -1, 24.5, 31])(
  'a window of %d bits, which Node.js would read as another, is refused',
  (windowBits) => {
    expect(() => reservedFor(windowBits)).toThrow(RangeError);
  },
);

slow('10.3 s')('the memory of a compression is free again before the run ends', () => {
  const { zlib } = compressionOperations({ spend: () => {}, hold: () => {} });
  const compress = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      for (const method of ['gzipSync', 'brotliCompressSync']) zlib(method, 'eA==', {});
    }
  };
  compress(500);
  const startBytes = process.memoryUsage().rss;
  compress(8_000);
  expect(process.memoryUsage().rss - startBytes).toBeLessThan(120 * 2 ** 20);
});
