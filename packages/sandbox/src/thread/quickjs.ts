import {
  type Lifetime,
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten';

const pageBytes = 65_536;
const initialBytes = 16 * 2 ** 20;
/** Memory besides the Tenant's heap: QuickJS's own data, and text on its way in. */
const extraBytes = 32 * 2 ** 20;

export interface QuickJs {
  wasm: QuickJSWASMModule;
  memory: WebAssembly.Memory;
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  /** Asked before the memory grows to so many bytes. If it may not, the code sees an error. */
  mayGrow: (bytes: number) => boolean;
}

/** The maximum of its memory applies even if QuickJS counts wrongly. */
export async function instantiate(module: WebAssembly.Module, heapBytes: number): Promise<QuickJs> {
  const maximum = Math.ceil((heapBytes + initialBytes + extraBytes) / pageBytes);
  const memory = new WebAssembly.Memory({ initial: initialBytes / pageBytes, maximum });
  const silent: object = { print: () => {}, printErr: () => {} };
  const wasm = await newQuickJSWASMModule(
    newVariant(RELEASE_SYNC, { wasmModule: module, wasmMemory: memory, emscriptenModule: silent }),
  );
  const runtime = wasm.newRuntime();
  const quickjs: QuickJs = { wasm, memory, runtime, context: runtime.newContext(), mayGrow: () => true };
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (!quickjs.mayGrow(memory.buffer.byteLength + pages * pageBytes))
      throw new RangeError('The memory may not grow now');
    return grow(pages);
  };
  return quickjs;
}

export interface InstanceMemory {
  bytes: number;
  /** Since the start. WebAssembly memory never shrinks. */
  grownBytes: number;
  /**
   * The part of `bytes` that its heap has ever used; the rest was never touched, and takes none of the machine's
   * memory.
   */
  heapBytes: number;
}

/**
 * Where the allocator stores its largest size (`max_footprint` of dlmalloc). Valid for this version of the package
 * only.
 */
const heapBytesAddress = 88_696;

/** Cheap: nothing is walked through. */
export function memoryOf({ memory: { buffer } }: QuickJs): InstanceMemory {
  const bytes = buffer.byteLength;
  const heapBytes = new DataView(buffer).getUint32(heapBytesAddress, true);
  return { bytes, grownBytes: bytes - initialBytes, heapBytes };
}

type Ffi = ReturnType<QuickJSWASMModule['getFFI']>;

type ValuePointer = ReturnType<Ffi['QTS_Call']>;

/** Private members of QuickJSRuntime; because of them the version of the package is fixed. */
interface RuntimeInternals {
  rt: Lifetime<Parameters<Ffi['QTS_ExecutePendingJob']>[0]>;
  memory: { newMutablePointerArray(length: number): Lifetime<{ ptr: Parameters<Ffi['QTS_ExecutePendingJob']>[2] }> };
}

interface ContextInternals {
  ctx: Lifetime<Parameters<Ffi['QTS_Call']>[0]>;
  memory: {
    heapValueHandle(pointer: ValuePointer): QuickJSHandle;
    module: {
      _malloc(bytes: number): Parameters<Ffi['QTS_NewString']>[1] & Parameters<Ffi['QTS_Call']>[4];
      _free(pointer: number): void;
    };
  };
}

/** Runs up to `count` promise jobs. @returns how many ran, or NaN when one failed outside of any promise. */
export type RunJobs = (count: number) => number;

/**
 * Replaces `runtime.executePendingJobs`, which reads its result through a view that is detached once the memory has
 * grown.
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

export class NoMemory extends Error {
  constructor() {
    super('QuickJS has no memory for a text');
    this.name = 'NoMemory';
  }
}

export interface Crossing {
  newText(text: string): QuickJSHandle;
  /** In UTF-16 units, without copying the string. */
  lengthOf(text: QuickJSHandle): number;
  /** Up to the first NUL. @throws {NoMemory} where the package would return ''. */
  textOf(text: QuickJSHandle): string;
  /** The only question that an interrupt may ask. */
  isFulfilled(promise: QuickJSHandle): boolean;
  fulfilled(promise: QuickJSHandle): QuickJSHandle | undefined;
  call(run: QuickJSHandle, parameters: readonly QuickJSHandle[]): { value: QuickJSHandle } | { error: QuickJSHandle };
}

const mostParameters = 4;
const wordBytes = 4;
/** JSPromiseStateEnum */
const fulfilledState = 1;

export function crossingInto({ wasm, memory, context }: QuickJs): Crossing {
  const ffi = wasm.getFFI();
  const { ctx, memory: own } = context as unknown as ContextInternals;
  const { heapValueHandle, module } = { heapValueHandle: own.heapValueHandle.bind(own), module: own.module };
  const none = ffi.QTS_GetUndefined();
  const lengthKey = context.newString('length');
  const words = module._malloc(mostParameters * wordBytes);
  let view = Buffer.from(memory.buffer);
  /** A view is detached when the memory has grown. */
  const bytesOfMemory = () => {
    if (view.buffer !== memory.buffer) view = Buffer.from(memory.buffer);
    return view;
  };

  const isFulfilled = (promise: QuickJSHandle) => ffi.QTS_PromiseState(ctx.value, promise.value) === fulfilledState;

  return {
    newText: (text) => {
      const bytes = Buffer.byteLength(text);
      const pointer = module._malloc(bytes + 1);
      if (pointer === 0) throw new NoMemory();
      const target = bytesOfMemory();
      target.write(text, pointer);
      target[pointer + bytes] = 0;
      const value = ffi.QTS_NewString(ctx.value, pointer);
      module._free(pointer);
      return heapValueHandle(value);
    },
    lengthOf: (text) => {
      const length = ffi.QTS_GetProp(ctx.value, text.value, lengthKey.value);
      const units = ffi.QTS_GetFloat64(ctx.value, length);
      ffi.QTS_FreeValuePointer(ctx.value, length);
      return units;
    },
    textOf: (text) => {
      const pointer = ffi.QTS_GetString(ctx.value, text.value);
      if (Number(pointer) === 0) throw new NoMemory();
      const bytes = bytesOfMemory();
      const decoded = bytes.toString('utf8', pointer, bytes.indexOf(0, pointer));
      ffi.QTS_FreeCString(ctx.value, pointer);
      return decoded;
    },
    isFulfilled,
    fulfilled: (promise) =>
      isFulfilled(promise) ? heapValueHandle(ffi.QTS_PromiseResult(ctx.value, promise.value)) : undefined,
    call: (run, parameters) => {
      const target = bytesOfMemory();
      for (const [index, { value }] of parameters.entries()) target.writeUInt32LE(value, words + index * wordBytes);
      const result = ffi.QTS_Call(ctx.value, run.value, none, parameters.length, words);
      const error = ffi.QTS_ResolveException(ctx.value, result);
      if (!error) return { value: heapValueHandle(result) };
      ffi.QTS_FreeValuePointer(ctx.value, result);
      return { error: heapValueHandle(error) };
    },
  };
}
