import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { instantiate, memoryOf } from './quickjs.ts';

const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
const quickjs = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
const mebibyte = 2 ** 20;

test('the heap of an instance counts from its first byte, and what was freed goes on counting', async () => {
  const instance = await instantiate(quickjs, 128 * mebibyte);
  const heapAfter = (code: string) => {
    instance.context.unwrapResult(instance.context.evalCode(code)).dispose();
    return memoryOf(instance).heapBytes / mebibyte;
  };
  expect(heapAfter('1')).toBeGreaterThan(0);
  expect(heapAfter('1')).toBeLessThan(0.25);
  for (const mebibytes of [3, 9, 40]) {
    const heap = heapAfter(`globalThis.kept = undefined; kept = new Uint8Array(${mebibytes * mebibyte}).fill(7); 1`);
    expect(heap).toBeGreaterThan(mebibytes);
    expect(heap).toBeLessThan(mebibytes + 13); // Beside a smaller one that was freed.
    expect(heapAfter('kept = undefined; 1')).toBe(heap);
  }
  expect(memoryOf(instance).heapBytes).toBeLessThan(memoryOf(instance).bytes);
});
