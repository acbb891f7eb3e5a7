import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { slow } from '@sluice/testing';
import { LargeHeaps } from '../large-heaps.ts';
import { defaultTransformLimits as limits } from '../limits.ts';
import { Guest } from './guest.ts';
import { readGuestSources } from './guest-sources.ts';
import { invocationFrom } from './invocation.ts';

const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
const quickjs = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));

const largeHeap = new LargeHeaps(2).forThread(true);

afterEach(() => jest.restoreAllMocks());

async function run(code: string): Promise<{ outcome: string | undefined; isReusable: boolean }> {
  const guest = await Guest.open('request', {
    ...{ quickjs, limits, headerPrefix: 'svc', givesWay: false, largeHeap },
    sources: readGuestSources(),
  });
  const invocation = invocationFrom({ limits, send: () => {} });
  const input = { argsJson: '{}', configurationJson: '{}', hasClient: false };
  const isReusable = await guest.run({ code, ...input }, invocation);
  return { outcome: invocation.outcome?.kind, isReusable };
}

test('a guest whose thread had to stand still is as good as before', async () => {
  let now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => {
    now += 20;
    return now;
  });
  expect(await run('module.exports = async () => { Promise.resolve().then(() => {}); return {} }')).toEqual({
    outcome: 'result',
    isReusable: true,
  });
});

slow('2.1 s')('one that works on after its answer is not', async () => {
  const code = 'module.exports = async () => { Promise.resolve().then(() => { for (;;); }); return {} }';
  const then =
    'module.exports = async () => { setTimeout(() => {}); const go = () => queueMicrotask(go); go(); return {} }';
  expect(await run(code)).toMatchObject({ isReusable: false });
  expect(await run(then)).toEqual({ outcome: 'result', isReusable: false });
});
