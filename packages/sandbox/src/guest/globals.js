/** The globals and modules of a transform, loaded when first used, because most transforms need few of them. */
import * as errors from './errors.js';
import { host } from './host.js';
import * as timers from './timers.js';

const { defineProperty } = Object;
const GuestError = Error;
const { apply } = Reflect;
const sliceText = String.prototype.slice;
const promisified = Symbol.for('nodejs.util.promisify.custom');

/** The file of this folder that exports each global. @type {Record<string, string>} */
const lazyGlobals = {
  AbortController: 'abort',
  AbortSignal: 'abort',
  Buffer: 'buffer',
  DOMException: 'dom-exception',
  Event: 'event-target',
  EventTarget: 'event-target',
  Intl: 'intl',
  TextDecoder: 'text-coding',
  TextEncoder: 'text-coding',
  URL: 'url',
  URLSearchParams: 'url',
  atob: 'base64',
  btoa: 'base64',
  console: 'console',
  crypto: 'web-crypto',
  performance: 'performance',
  process: 'process',
  structuredClone: 'structured-clone',
};

/** @type {Record<string, string>} */
const globalsOfReactors = { Headers: 'headers', Request: 'request', Response: 'response', fetch: 'fetch' };

/** Methods that depend on a locale. @type {[object, string, string[]][]} */
const localeDependent = [
  [Number.prototype, 'Number', ['toLocaleString']],
  [BigInt.prototype, 'BigInt', ['toLocaleString']],
  [Date.prototype, 'Date', ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
  [Array.prototype, 'Array', ['toLocaleString']],
  [Object.getPrototypeOf(Uint8Array.prototype), 'Array', ['toLocaleString']],
  [String.prototype, 'String', ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
];

const moduleFiles = {
  assert: 'assert',
  'assert/strict': 'assert-strict',
  buffer: 'buffer-module',
  crypto: 'crypto',
  events: 'events',
  path: 'path',
  'path/posix': 'path',
  perf_hooks: 'perf-hooks',
  process: 'process',
  querystring: 'querystring',
  stream: 'stream',
  'stream/promises': 'stream-promises',
  string_decoder: 'string-decoder',
  timers: 'timers-module',
  'timers/promises': 'timers-promises',
  url: 'url-module',
  util: 'util',
  'util/types': 'util-types',
  uuid: 'uuid',
  zlib: 'zlib',
  __proto__: null,
};

const errorsModule = `${host.headerPrefix}-errors`;

/** @type {Record<string, unknown>} */
const loaded = Object.create(null);

/** `require`. It knows the modules of Node.js with and without `node:`. @param {unknown} specifier */
export function requireModule(specifier) {
  const text = `${specifier}`;
  if (text === errorsModule) return errors.exported;
  const name = apply(sliceText, text, [0, 5]) === 'node:' ? apply(sliceText, text, [5]) : text;
  if (!(name in moduleFiles) || text === 'node:uuid') {
    const error = new GuestError(`Cannot find module '${text}'`);
    defineProperty(error, 'code', { value: 'MODULE_NOT_FOUND', enumerable: true });
    throw error;
  }
  loaded[name] ??= host.load(moduleFiles[/** @type {keyof typeof moduleFiles} */ (name)] ?? name).exported;
  return loaded[name];
}

export function defineGlobals() {
  define('global', globalThis);
  define('setTimeout', timers.setTimeout);
  define('setInterval', timers.setInterval);
  define('setImmediate', timers.setImmediate);
  define('clearTimeout', timers.clearTimeout);
  define('clearInterval', timers.clearTimeout);
  define('clearImmediate', timers.clearTimeout);
  define('queueMicrotask', timers.queueMicrotask);
  definePromised(timers.setTimeout, 'setTimeout');
  definePromised(timers.setImmediate, 'setImmediate');
  defineProperty(GuestError, 'captureStackTrace', { value: captureStackTrace, writable: true, configurable: true });
  defineProperty(GuestError, 'stackTraceLimit', { value: 10, writable: true, configurable: true, enumerable: true });
  const lazy = host.fetch ? { ...lazyGlobals, ...globalsOfReactors } : lazyGlobals;
  for (const name of Object.keys(lazy)) defineLazily(name, /** @type {string} */ (lazy[name]));
  for (const [prototype, type, names] of localeDependent) {
    for (const name of names) defineLocaleMethod(prototype, type, name);
  }
}

/** Sets the result of `util.promisify` for a timer. @param {Function} timer @param {string} name */
function definePromised(timer, name) {
  const get = () => /** @type {Record<string, unknown>} */ (host.load('timers-promises').exported)[name];
  defineProperty(timer, promisified, { get, configurable: true });
}

/**
 * A function of V8 that most error classes call. It omits the frames above the constructor.
 * @param {object} target @param {Function} [maker]
 */
function captureStackTrace(target, maker) {
  const [, ...frames] = `${new GuestError().stack}`.split('\n');
  const above = maker ? frames.findIndex((frame) => frame.startsWith(`    at ${maker.name} (`)) : -1;
  defineProperty(target, 'stack', {
    value: frames.slice(above + 1).join('\n'),
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

/** @param {object} prototype @param {string} type @param {string} name */
function defineLocaleMethod(prototype, type, name) {
  const value = {
    /** @param {unknown} first @param {unknown} second @param {unknown} third */
    [name](first, second, third) {
      const methods = /** @type {Record<string, Function>} */ (host.load('intl').localeMethods);
      return apply(/** @type {Function} */ (methods[`${type}.${name}`]), undefined, [this, first, second, third]);
    },
  }[name];
  defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: false });
}

/** @param {string} name @param {unknown} value */
function define(name, value) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** @param {string} name @param {string} file */
function defineLazily(name, file) {
  defineProperty(globalThis, name, {
    get() {
      const value = host.load(file)[name];
      define(name, value);
      return value;
    },
    /** @param {unknown} value */
    set(value) {
      define(name, value);
    },
    configurable: true,
    enumerable: false,
  });
}
