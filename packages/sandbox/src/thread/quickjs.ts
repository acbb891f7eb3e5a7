import {
  type Lifetime,
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten';

const pageBytes = 65_536;
/** What QuickJS's build asks for. */
const initialBytes = 16 * 2 ** 20;
/** Room beside the Tenant's heap: QuickJS's own data, and text on its way in. */
const extraBytes = 32 * 2 ** 20;

/** One WebAssembly instance of QuickJS with one context in it. */
export interface QuickJs {
  wasm: QuickJSWASMModule;
  memory: WebAssembly.Memory;
  runtime: QuickJSRuntime;
  context: QuickJSContext;
}

/** A new instance with memory of its own, under a ceiling that does not depend on QuickJS counting right. */
export async function newInstance(module: WebAssembly.Module, heapBytes: number): Promise<QuickJs> {
  const maximum = Math.ceil((heapBytes + initialBytes + extraBytes) / pageBytes);
  const memory = new WebAssembly.Memory({ initial: initialBytes / pageBytes, maximum });
  const silent: object = { print: () => {}, printErr: () => {} };
  const wasm = await newQuickJSWASMModule(
    newVariant(RELEASE_SYNC, { wasmModule: module, wasmMemory: memory, emscriptenModule: silent }),
  );
  const runtime = wasm.newRuntime();
  return { wasm, memory, runtime, context: runtime.newContext() };
}

/** All of its memory, and how much that is more than at the start. WebAssembly memory never shrinks. */
export function memoryOf({ memory }: QuickJs): { bytes: number; grownBytes: number } {
  const bytes = memory.buffer.byteLength;
  return { bytes, grownBytes: bytes - initialBytes };
}

type Ffi = ReturnType<QuickJSWASMModule['getFFI']>;

/** Members that QuickJSRuntime has but does not offer; the version of the package is fixed for this. */
interface RuntimeInternals {
  rt: Lifetime<Parameters<Ffi['QTS_ExecutePendingJob']>[0]>;
  memory: { newMutablePointerArray(length: number): Lifetime<{ ptr: Parameters<Ffi['QTS_ExecutePendingJob']>[2] }> };
}

/** Runs up to `count` jobs of the promise queue and tells how many ran; NaN when one failed outside of any promise. */
export type RunJobs = (count: number) => number;

/**
 * Instead of `runtime.executePendingJobs`, which reads its answer through a view of the memory: that is detached when
 * the memory grew meanwhile, and it then makes another context.
 */
export function jobRunner({ wasm, runtime, context }: QuickJs): RunJobs {
  const ffi = wasm.getFFI();
  const { rt, memory } = runtime as unknown as RuntimeInternals;
  const lastContext = memory.newMutablePointerArray(1).value.ptr;
  const anyContext = (context as unknown as { ctx: Lifetime<Parameters<Ffi['QTS_GetFloat64']>[0]> }).ctx.value;
  return (count) => {
    const answer = ffi.QTS_ExecutePendingJob(rt.value, count, lastContext);
    const executed = ffi.QTS_GetFloat64(anyContext, answer);
    ffi.QTS_FreeValuePointerRuntime(rt.value, answer);
    return executed;
  };
}
