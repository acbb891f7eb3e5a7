/**
 * Timers in virtual time: the host fires them one by one, in order, as soon as nothing else is pending. For code that may
 * call `fetch` it lets real time pass instead. They are a linked list, because arrays use a prototype that the
 * Tenant's code can change.
 */
import { describe } from './failures.js';
import { host, stringify } from './host.js';

const { apply } = Reflect;
const { max, min } = Math;
const GuestTypeError = TypeError;

/** @typedef {{ id: number, due: number, callback: Function, parameters: unknown[], period: number | undefined, next: Timer | undefined }} TimerFields */
/** @typedef {TimerFields} Timer */

/** @type {Timer | undefined} */
let first;
let lastId = 0;
let now = 0;

/** Node's handle of a timer. It can be used as a number, and has the methods that code calls. */
class Timeout {
  #timer;
  #wait;
  /** @param {Timer} timer @param {number} wait */
  constructor(timer, wait) {
    this.#timer = timer;
    this.#wait = wait;
  }
  /** Restarts the timer. */
  refresh() {
    clearTimeout(this);
    this.#timer.due = now + this.#wait;
    insert(this.#timer);
    return this;
  }
  close() {
    clearTimeout(this);
    return this;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  [Symbol.toPrimitive]() {
    return this.#timer.id;
  }
  /** @param {unknown} handle */
  static idOf(handle) {
    return typeof handle === 'object' && handle !== null && #timer in handle ? handle.#timer.id : Number(handle);
  }
}
const { idOf } = Timeout;

/**
 * @param {unknown} callback
 * @param {unknown} delay
 * @param {unknown[]} parameters
 * @param {boolean} repeats
 */
function start(callback, delay, parameters, repeats) {
  if (typeof callback !== 'function') throw new GuestTypeError('The "callback" argument must be of type function.');
  const number = Number(delay);
  const wait = number >= 1 ? min(number, 2 ** 31 - 1) : 1;
  lastId += 1;
  const due = now + wait;
  /** @type {Timer} */
  const timer = { id: lastId, due, callback, parameters, period: repeats ? wait : undefined, next: undefined };
  insert(timer);
  return new Timeout(timer, wait);
}

/** @param {Timer} timer */
function insert(timer) {
  timer.next = undefined;
  if (!first || first.due > timer.due) {
    timer.next = first;
    first = timer;
    return;
  }
  let before = first;
  while (before.next && before.next.due <= timer.due) before = before.next;
  timer.next = before.next;
  before.next = timer;
}

/** @param {unknown} callback @param {unknown} [delay] @param {...unknown} parameters */
export const setTimeout = (callback, delay, ...parameters) => start(callback, delay, parameters, false);

/** @param {unknown} callback @param {unknown} [delay] @param {...unknown} parameters */
export const setInterval = (callback, delay, ...parameters) => start(callback, delay, parameters, true);

/** @param {unknown} callback @param {...unknown} parameters */
export const setImmediate = (callback, ...parameters) => start(callback, 0, parameters, false);

/** @param {unknown} [handle] */
export function clearTimeout(handle) {
  const id = idOf(handle);
  if (first?.id === id) {
    first = first.next;
    return;
  }
  for (let before = first; before?.next; before = before.next) {
    if (before.next.id === id) {
      before.next = before.next.next;
      return;
    }
  }
}

/** Runs the timer that is due first. Returns whether there was one. As in Node.js, an error in it ends the run. */
export function fireTimer() {
  const timer = first;
  if (!timer) return false;
  first = timer.next;
  now = max(now, timer.due);
  if (timer.period !== undefined) {
    timer.due = now + timer.period;
    insert(timer);
  }
  run(timer.callback, timer.parameters);
  return true;
}

/** Returns the milliseconds until the first timer is due, or -1 where there is none. @param {number} ms */
export function passTime(ms) {
  now += ms;
  return first ? max(first.due - now, 0) : -1;
}

/** @param {unknown} callback */
export function queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new GuestTypeError('The "callback" argument must be of type function.');
  afterwards(callback, []);
}

/** @param {Function} callback @param {unknown[]} parameters */
export async function afterwards(callback, parameters) {
  await undefined;
  run(callback, parameters);
}

/** @param {Function} callback @param {unknown[]} parameters */
function run(callback, parameters) {
  try {
    apply(callback, undefined, parameters);
  } catch (error) {
    host.fail(stringify(describe(error)));
  }
}

export function clearTimers() {
  first = undefined;
  now = 0;
}
