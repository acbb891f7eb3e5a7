/** The module `events`: `EventEmitter` and `once`. */

import { inspect } from './inspect.js';

/** @typedef {{ listener: Function, once: boolean }} Entry */

/** Kept beside the object, so that `EventEmitter.call(this)` of old code needs to do nothing. @type {WeakMap<object, Map<unknown, Entry[]>>} */
const emitters = new WeakMap();
const add = Symbol('add');
const remove = Symbol('remove');

class Emitter {
  /** @param {unknown} event @param {Function} listener @param {boolean} once @param {boolean} first */
  [add](event, listener, once, first) {
    if (typeof listener !== 'function') {
      throw Object.assign(new TypeError('The "listener" argument must be of type function.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    if (entriesOf(this).has('newListener')) this.emit('newListener', event, listener);
    const entries = entriesOf(this).get(event) ?? [];
    entriesOf(this).set(event, first ? [{ listener, once }, ...entries] : [...entries, { listener, once }]);
    return this;
  }

  /** @param {unknown} event @param {Function} listener */
  on(event, listener) {
    return this[add](event, listener, false, false);
  }

  /** @param {unknown} event @param {Function} listener */
  addListener(event, listener) {
    return this[add](event, listener, false, false);
  }

  /** @param {unknown} event @param {Function} listener */
  once(event, listener) {
    return this[add](event, listener, true, false);
  }

  /** @param {unknown} event @param {Function} listener */
  prependListener(event, listener) {
    return this[add](event, listener, false, true);
  }

  /** @param {unknown} event @param {Function} listener */
  prependOnceListener(event, listener) {
    return this[add](event, listener, true, true);
  }

  /** Not by `off`, nor that by it: a subclass may have one of them call the other. @param {unknown} event @param {Function} listener */
  [remove](event, listener) {
    const entries = entriesOf(this).get(event) ?? [];
    const index = entries.findLastIndex((entry) => entry.listener === listener);
    if (index === -1) return this;
    const rest = entries.filter((_, position) => position !== index);
    if (rest.length > 0) entriesOf(this).set(event, rest);
    else entriesOf(this).delete(event);
    if (entriesOf(this).has('removeListener')) this.emit('removeListener', event, listener);
    return this;
  }

  /** @param {unknown} event @param {Function} listener */
  off(event, listener) {
    return this[remove](event, listener);
  }

  /** @param {unknown} event @param {Function} listener */
  removeListener(event, listener) {
    return this[remove](event, listener);
  }

  /** @param {unknown} [event] */
  removeAllListeners(event) {
    if (event === undefined) entriesOf(this).clear();
    else entriesOf(this).delete(event);
    return this;
  }

  /** @param {unknown} event @param {...unknown} values */
  emit(event, ...values) {
    const entries = entriesOf(this).get(event) ?? [];
    if (entries.length === 0) {
      if (event === 'error') throw unhandled(values[0]);
      return false;
    }
    for (const { listener, once } of entries) {
      if (once) this.removeListener(event, listener);
      Reflect.apply(listener, this, values);
    }
    return true;
  }

  /** @param {unknown} event */
  listenerCount(event) {
    return entriesOf(this).get(event)?.length ?? 0;
  }

  /** @param {unknown} event */
  listeners(event) {
    return (entriesOf(this).get(event) ?? []).map((entry) => entry.listener);
  }

  /** @param {unknown} event */
  rawListeners(event) {
    return this.listeners(event);
  }

  eventNames() {
    return [...entriesOf(this).keys()];
  }

  setMaxListeners() {
    return this;
  }

  getMaxListeners() {
    return 10;
  }
}

/** @param {unknown} error */
function unhandled(error) {
  if (error instanceof Error) return error;
  return Object.assign(new Error(`Unhandled error. (${inspect(error)})`), { code: 'ERR_UNHANDLED_ERROR' });
}

/** @param {object} emitter @returns {Map<unknown, Entry[]>} */
function entriesOf(emitter) {
  const entries = emitters.get(emitter) ?? new Map();
  emitters.set(emitter, entries);
  return entries;
}

/** @param {Emitter} emitter @param {unknown} event @returns {Promise<unknown[]>} */
function once(emitter, event) {
  return new Promise((resolve, reject) => {
    /** @param {...unknown} values */
    const done = (...values) => {
      emitter.off('error', failed);
      resolve(values);
    };
    /** @param {unknown} error */
    const failed = (error) => {
      emitter.off(event, done);
      reject(error);
    };
    emitter.once(event, done);
    if (event !== 'error') emitter.once('error', failed);
  });
}

function EventEmitter() {}
EventEmitter.prototype = Emitter.prototype;
Object.defineProperty(Emitter.prototype, 'constructor', { value: EventEmitter, writable: true, configurable: true });

export const exported = Object.assign(EventEmitter, { EventEmitter, once, defaultMaxListeners: 10 });
