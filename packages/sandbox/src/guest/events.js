/** The module `events`: `EventEmitter`, `once` and `on`. */
import { abortError, onAbort } from './abort-error.js';
import { inspect } from './inspect.js';

/** @typedef {{ listener: Function, once: boolean }} Entry */

/**
 * Not in the object itself, so that `EventEmitter.call(this)` of old code can do nothing. @type {WeakMap<object,
 * Map<unknown, Entry[]>>}
 */
const emitters = new WeakMap();
const add = Symbol('add');
const remove = Symbol('remove');
const errorMonitor = Symbol('events.errorMonitor');

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

  /** It does not call `off`, nor `off` it, because a subclass may make one of them call the other. @param {unknown} event @param {Function} listener */
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
    if (event === 'error' && entriesOf(this).has(errorMonitor)) this.emit(errorMonitor, ...values);
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

/** @param {Emitter | EventTarget} emitter @param {any} event @param {Function} listener @returns {() => void} Takes it away */
function listen(emitter, event, listener) {
  if ('addEventListener' in emitter) {
    const target = /** @type {any} */ (emitter);
    target.addEventListener(event, listener);
    return () => target.removeEventListener(event, listener);
  }
  emitter.on(event, listener);
  return () => void emitter.removeListener(event, listener);
}

/**
 * @param {Emitter | EventTarget} emitter
 * @param {unknown} event
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<unknown[]>}
 */
function once(emitter, event, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError(signal));
      return;
    }
    /** @type {(() => void)[]} */
    const forget = [];
    /** @param {(value: any) => void} settle */
    const settleBy = (settle) => (/** @type {unknown} */ value) => {
      for (const each of forget) each();
      settle(value);
    };
    const failed = settleBy(reject);
    forget.push(onAbort(signal, failed));
    forget.push(listen(emitter, event, (/** @type {unknown[]} */ ...values) => settleBy(resolve)(values)));
    if (event !== 'error' && !('addEventListener' in emitter)) forget.push(listen(emitter, 'error', failed));
  });
}

/**
 * Yields the events as they come, until the loop is left, the signal is aborted or `error` is emitted.
 * @param {Emitter | EventTarget} emitter
 * @param {unknown} event
 * @param {{ signal?: AbortSignal }} [options]
 */
function on(emitter, event, { signal } = {}) {
  if (signal?.aborted) throw abortError(signal);
  /** @type {unknown[][]} */
  const values = [];
  /** @type {{ error: unknown } | undefined} */
  let failure;
  let wake = () => {};
  const fail = (/** @type {unknown} */ error) => {
    failure = { error };
    wake();
  };
  const forget = [
    listen(emitter, event, (/** @type {unknown[]} */ ...given) => {
      values.push(given);
      wake();
    }),
    onAbort(signal, fail),
  ];
  if (event !== 'error' && !('addEventListener' in emitter)) forget.push(listen(emitter, 'error', fail));
  return (async function* () {
    try {
      for (;;) {
        while (values.length > 0) yield values.shift();
        if (failure) throw failure.error;
        await new Promise((resolve) => {
          wake = () => resolve(undefined);
        });
      }
    } finally {
      for (const each of forget) each();
    }
  })();
}

function EventEmitter() {}
EventEmitter.prototype = Emitter.prototype;
Object.defineProperty(Emitter.prototype, 'constructor', { value: EventEmitter, writable: true, configurable: true });

export const exported = Object.assign(EventEmitter, {
  EventEmitter,
  once,
  on,
  errorMonitor,
  defaultMaxListeners: 10,
  setMaxListeners() {},
  /** @param {Emitter} emitter @param {unknown} event */
  listenerCount: (emitter, event) => emitter.listenerCount(event),
  /** @param {Emitter} emitter @param {unknown} event */
  getEventListeners: (emitter, event) => emitter.listeners(event),
});
