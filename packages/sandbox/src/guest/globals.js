/** The globals and the modules that a transform finds, loaded when first used: most transforms need few of them. */
import * as errors from './errors.js';
import { host } from './host.js';
import * as timers from './timers.js';

const { defineProperty, freeze } = Object;
const GuestError = Error;
const { apply } = Reflect;
const sliceText = String.prototype.slice;

/** Which file of this folder holds the global. @type {Record<string, string>} */
const lazyGlobals = {
  Buffer: 'buffer',
  TextDecoder: 'text-coding',
  TextEncoder: 'text-coding',
  URL: 'url',
  URLSearchParams: 'url',
  atob: 'base64',
  btoa: 'base64',
  console: 'console',
  crypto: 'web-crypto',
  structuredClone: 'structured-clone',
};

const moduleFiles = {
  assert: 'assert',
  buffer: 'buffer-module',
  crypto: 'crypto',
  events: 'events',
  path: 'path',
  querystring: 'querystring',
  url: 'url-module',
  util: 'util',
  uuid: 'uuid',
  __proto__: null,
};

const errorsModule = `${host.headerPrefix}-errors`;

/** @type {Record<string, unknown>} */
const loaded = Object.create(null);

/**
 * `require`; the modules of Node.js with or without `node:`.
 * @param {unknown} specifier
 */
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
  define('process', {
    env: freeze({}),
    /** @param {Function} callback @param {...unknown} parameters */
    nextTick: (callback, ...parameters) => void timers.afterwards(callback, parameters),
  });
  for (const name of Object.keys(lazyGlobals)) defineLazily(name, /** @type {string} */ (lazyGlobals[name]));
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
