/** `Event` and `EventTarget` of the DOM standard, as far as `AbortSignal` needs them: without a tree. */
import { describe } from './failures.js';
import { host, stringify } from './host.js';

/** @typedef {{ callback: Function | { handleEvent: Function }, once: boolean }} Listener */

/** @type {WeakMap<object, Map<string, Listener[]>>} */
const listenersOf = new WeakMap();
/** @type {WeakSet<object>} */
const stopped = new WeakSet();
/** @type {WeakMap<object, object>} */
const targets = new WeakMap();

export class Event {
  #type;
  #cancelable;
  #prevented = false;

  /** @param {unknown} type @param {{ cancelable?: boolean }} [options] */
  constructor(type, { cancelable = false } = {}) {
    this.#type = String(type);
    this.#cancelable = Boolean(cancelable);
  }

  get type() {
    return this.#type;
  }

  get target() {
    return targets.get(this) ?? null;
  }

  get currentTarget() {
    return this.target;
  }

  get cancelable() {
    return this.#cancelable;
  }

  get defaultPrevented() {
    return this.#prevented;
  }

  preventDefault() {
    if (this.#cancelable) this.#prevented = true;
  }

  stopImmediatePropagation() {
    stopped.add(this);
  }
}

export class EventTarget {
  /** @param {unknown} type @param {Listener['callback'] | null} callback @param {{ once?: boolean, signal?: EventTarget } | boolean} [options] */
  addEventListener(type, callback, options) {
    if (callback === null || callback === undefined) return;
    const { once = false, signal } = typeof options === 'object' && options !== null ? options : {};
    if (signal && Reflect.get(signal, 'aborted')) return;
    const list = listOf(this, type);
    if (list.some((listener) => listener.callback === callback)) return;
    setList(this, type, [...list, { callback, once }]);
    signal?.addEventListener('abort', () => this.removeEventListener(type, callback), { once: true });
  }

  /** @param {unknown} type @param {Listener['callback'] | null} callback */
  removeEventListener(type, callback) {
    setList(
      this,
      type,
      listOf(this, type).filter((listener) => listener.callback !== callback),
    );
  }

  /** @param {Event} event */
  dispatchEvent(event) {
    if (!(event instanceof Event)) {
      throw Object.assign(new TypeError('The "event" argument must be an instance of Event.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    targets.set(event, this);
    for (const listener of listOf(this, event.type)) {
      if (stopped.has(event)) break;
      if (listener.once) this.removeEventListener(event.type, listener.callback);
      notify(this, listener.callback, event);
    }
    return !event.defaultPrevented;
  }
}

/** As in Node.js, an error of a listener does not reach the dispatcher, but ends the run. @param {EventTarget} target @param {Listener['callback']} callback @param {Event} event */
function notify(target, callback, event) {
  try {
    if (typeof callback === 'function') Reflect.apply(callback, target, [event]);
    else callback.handleEvent(event);
  } catch (error) {
    host.fail(stringify(describe(error)));
  }
}

/** @param {EventTarget} target @param {unknown} type */
const listOf = (target, type) => listenersOf.get(target)?.get(String(type)) ?? [];

/** @param {EventTarget} target @param {unknown} type @param {Listener[]} list */
function setList(target, type, list) {
  const all = listenersOf.get(target) ?? new Map();
  listenersOf.set(target, all.set(String(type), list));
}
