import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { defaultTransformLimits, LargeHeaps } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';
import { Guest } from './thread/guest.ts';
import { readGuestSources } from './thread/guest-sources.ts';
import { invocationFrom } from './thread/invocation.ts';

const secret = `planted-${'7f3a9c'.repeat(4)}`;

/** Leaves the secret wherever code can leave anything. */
const plant = `
  const secret = '${secret}'; const { Buffer: B } = require('buffer'); const util = require('util'); const crypto2 = require('crypto'); const EventEmitter = require('events');
  globalThis.planted = secret; globalThis[Symbol.for(secret)] = secret; var leaked = secret;
  for (const type of [Object, Array, String, Number, Function, Promise, Map, Set, Error, RegExp, Date, Uint8Array, Buffer, URL, Intl.NumberFormat, AbortSignal, EventTarget]) { type.planted = secret; type.prototype.planted = secret }
  Object.defineProperty(Object.prototype, 'hidden', { value: secret, configurable: true });
  JSON.parse.planted = JSON.planted = Math.planted = console.planted = process.planted = crypto.planted = secret;
  for (const name of ['assert', 'buffer', 'crypto', 'events', 'path', 'querystring', 'stream', 'stream/promises', 'string_decoder', 'url', 'util', 'uuid', 'zlib', 'svc-errors']) { const m = require(name); try { m.planted = secret } catch {} }
  EventEmitter.defaultMaxListeners = secret; util.inspect.planted = secret; require('svc-errors').BadRequestError.prototype.planted = secret;
  const kept = []; for (let i = 0; i < 200; i += 1) kept.push(B.from(secret.repeat(50)), new Uint8Array(5e3).fill(0x37), secret + i);
  const cipher = crypto2.createCipheriv('aes-128-gcm', B.from(secret.slice(0, 16)), B.alloc(12)); cipher.update(secret);
  /(planted-\\w+)/.exec(secret); Symbol.for(secret); console.count(secret); console.log(secret);
  module.exports = async (req) => {
    setTimeout(() => { globalThis.fromTimer = secret }, 5); setInterval(() => console.log(secret), 1e6);
    (async () => { for (;;) { await null; globalThis.fromPromise = secret } })();
    req.svc.tokenize(secret).then((late) => { globalThis.late = late });
    req.args.body.planted = secret; Object.freeze(req.configuration);
    return { body: B.from(secret).toString('hex'), headers: { planted: secret } };
  };`;

/** Looks for it wherever code can look; tells all text that it could find. */
const hunt = `
  const found = new Set(); const seen = new Set(); const texts = []; const note = (text) => { if (texts.length < 2e4) texts.push(String(text)) };
  const walk = (value, depth) => {
    if (typeof value === 'string' || typeof value === 'symbol') return note(typeof value === 'symbol' ? value.description : value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || depth > 12) return;
    seen.add(value);
    if (ArrayBuffer.isView(value)) note(Array.from(new Uint8Array(value.buffer).slice(0, 256), (b) => String.fromCharCode(b)).join(''));
    for (const key of Reflect.ownKeys(value)) { note(typeof key === 'symbol' ? key.description : key); try { walk(value[key], depth + 1) } catch {} }
    try { walk(Object.getPrototypeOf(value), depth + 1) } catch {}
    if (value instanceof Map || value instanceof Set) for (const item of value) walk(item, depth + 1);
  };
  module.exports = async (req) => {
    walk(globalThis, 0); walk(req, 0);
    for (const name of ['assert', 'buffer', 'crypto', 'events', 'path', 'querystring', 'stream', 'stream/promises', 'string_decoder', 'url', 'util', 'uuid', 'zlib', 'svc-errors']) walk(require(name), 0);
    note([RegExp.$1, RegExp.input, RegExp.lastMatch].join());
    const { Buffer: B } = require('buffer');
    for (const make of [() => B.alloc(1e5), () => new Uint8Array(1e5), () => B.allocUnsafe?.(1e5), () => B.allocUnsafeSlow?.(1e5), () => new ArrayBuffer(1e5)]) {
      const memory = make(); if (!memory) continue;
      const bytes = new Uint8Array(memory.buffer ?? memory);
      for (let i = 0; i < bytes.length; i += 1) if (bytes[i] !== 0) { note('memory ' + Array.from(bytes.subarray(i, i + 64), (b) => String.fromCharCode(b)).join('')); break }
    }
    note(new Error('x').stack); console.count('planted');
    try { null.x } catch (error) { walk(error, 0) }
    await new Promise((resolve) => setTimeout(resolve, 50)); for (let i = 0; i < 200; i += 1) await null;
    walk(globalThis, 0);
    if (req.svc) note(JSON.stringify(await req.svc.detokenize('mine')));
    return { body: texts.filter((text) => /planted-|7f3a9c|fromTimer|fromPromise/.test(text)).concat(texts.length > 500 ? [] : ['too little was looked at: ' + texts.length]) };
  };`;

const others = [
  ['another Tenant', { tenantId: 'hunter', ownerId: 'planted' }],
  ['another Proxy of the same Tenant', { tenantId: 'planter', ownerId: 'other' }],
  ['the same Proxy with new code', { tenantId: 'planter', ownerId: 'planted' }],
] as const;

test.each(others)('nothing that one invocation leaves is found by %s, in the same thread', async (_, hunter) => {
  const pool = openTestPool({ limits: { cpuMs: 8_000, heapBytes: 64 * 2 ** 20 } });
  await pool.ready();
  // An answer that arrives when its invocation is over, and while the hunter runs.
  const host = async (operation: string) => {
    if (operation === 'tokenize') await new Promise((resolve) => setTimeout(resolve, 20));
    return JSON.stringify(operation === 'tokenize' ? secret : 'own answer');
  };
  for (let i = 0; i < 3; i += 1) {
    const planted = await pool.run(plant, {
      tenantId: 'planter',
      ownerId: 'planted',
      host,
      configuration: async () => JSON.stringify({ s: secret }),
    });
    expect(planted.headersJson).toContain(secret);
    pool.printed.length = 0;
    expect(await pool.body(hunt, { ...hunter, host })).toEqual([]);
    expect(JSON.stringify(pool.printed)).not.toContain(secret);
  }
  await pool.close();
});

test('the same hunt finds what is there', async () => {
  const pool = openTestPool({ limits: { cpuMs: 8_000 } });
  await pool.ready();
  const found = await pool.body(`globalThis.planted = '${secret}';${hunt}`);
  expect(found).toContain(secret);
  await pool.close();
});

test('the memory of a new instance has no byte of an earlier one, whose own memory has them', async () => {
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  const quickjs = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
  const limits = { ...defaultTransformLimits, cpuMs: 5_000 };
  const largeHeap = new LargeHeaps(2).forThread(true);
  const notes: WebAssembly.Memory[] = [];
  const NativeMemory = WebAssembly.Memory;
  // The instances make their own memory: note each.
  WebAssembly.Memory = class extends NativeMemory {
    constructor(descriptor: { initial: number; maximum: number }) {
      super(descriptor);
      notes.push(this);
    }
  };
  try {
    const run = async (code: string): Promise<void> => {
      const guest = await Guest.open('request', {
        ...{ quickjs, limits, headerPrefix: 'svc', givesWay: false, largeHeap },
        sources: readGuestSources(),
      });
      const invocation = invocationFrom({ limits, send: () => {} });
      await guest.run({ code, argsJson: '{"body":{}}', configurationJson: '{}', hasClient: false }, invocation);
      expect(invocation.outcome?.kind).toBe('result');
    };
    await run(
      `module.exports = async () => { globalThis.kept = Array.from({ length: 2000 }, (_, i) => '${secret}' + i); return {} }`,
    );
    await run('module.exports = async () => { globalThis.kept = new Uint8Array(24e6); return {} }');
    const [first, second] = notes.map((memory) => Buffer.from(memory.buffer));
    expect(first?.includes(secret)).toBe(true);
    expect(second?.includes(secret)).toBe(false);
    expect(second?.length).toBeGreaterThan(16 * 2 ** 20);
  } finally {
    WebAssembly.Memory = NativeMemory;
  }
});
