/** `AbortController` and `AbortSignal` of the DOM standard. */
import { DOMException } from './dom-exception.js';
import { Event, EventTarget } from './event-target.js';
import { setTimeout } from './timers.js';

const ours = Symbol('ours');

export class AbortSignal extends EventTarget {
  #aborted = false;
  /** @type {unknown} */
  #reason;
  /** @type {Function | null} */
  #handler = null;

  /** @param {unknown} [key] Only this file makes signals. */
  constructor(key) {
    super();
    if (key !== ours) {
      throw Object.assign(new TypeError('Illegal constructor'), { code: 'ERR_ILLEGAL_CONSTRUCTOR' });
    }
  }

  get aborted() {
    return this.#aborted;
  }

  get reason() {
    return this.#reason;
  }

  get onabort() {
    return this.#handler;
  }

  set onabort(handler) {
    if (this.#handler) this.removeEventListener('abort', this.#handler);
    this.#handler = typeof handler === 'function' ? handler : null;
    if (this.#handler) this.addEventListener('abort', this.#handler);
  }

  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  /** @param {unknown} [reason] */
  static abort(reason) {
    const signal = new AbortSignal(ours);
    abort(signal, reason);
    return signal;
  }

  /** It uses virtual time, like all timers. @param {number} ms */
  static timeout(ms) {
    const signal = new AbortSignal(ours);
    setTimeout(() => abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
    return signal;
  }

  /** @param {Iterable<AbortSignal>} signals */
  static any(signals) {
    const whole = new AbortSignal(ours);
    for (const signal of signals) {
      if (signal.aborted) return AbortSignal.abort(signal.reason);
      signal.addEventListener('abort', () => abort(whole, signal.reason), { once: true });
    }
    return whole;
  }

  /** @param {AbortSignal} signal @param {unknown} reason */
  static abortOf(signal, reason) {
    if (signal.#aborted) return;
    signal.#aborted = true;
    signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
    signal.dispatchEvent(new Event('abort'));
  }
}
const abort = AbortSignal.abortOf;
Reflect.deleteProperty(AbortSignal, 'abortOf');

export class AbortController {
  #signal = new AbortSignal(ours);

  get signal() {
    return this.#signal;
  }

  /** @param {unknown} [reason] */
  abort(reason) {
    abort(this.#signal, reason);
  }
}
