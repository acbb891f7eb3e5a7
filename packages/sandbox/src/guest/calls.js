/** Calls of the host: every call is one message and one promise. */
import { parse } from './host.js';

const { assign, create } = Object;
const GuestPromise = Promise;
const GuestError = Error;

/** @typedef {{ resolve(value: unknown): void, reject(error: unknown): void }} Settlers */

/** @type {Record<number, Settlers>} */
let pending = create(null);
let lastId = 0;
/** Why the host answered the last call with an error. */
let refusal = '';
/** @type {Settlers} */
const unsettled = { resolve: () => {}, reject: () => {} };

/**
 * `begin` sends the message under the id. An error that it throws rejects the promise. The executor does nothing,
 * because QuickJS treats an interrupt inside it as an ordinary error of the promise.
 * @param {(id: number) => void} begin
 * @returns {{ id: number, answer: Promise<unknown>, settle: Settlers }} Settled by the answer or by its owner, whoever
 * is first
 */
export function call(begin) {
  /** @type {Settlers} */
  let settle = unsettled;
  const answer = new GuestPromise((resolve, reject) => {
    settle = { resolve, reject };
  });
  lastId += 1;
  const id = lastId;
  pending[id] = settle;
  try {
    begin(id);
  } catch (error) {
    delete pending[id];
    settle.reject(error);
  }
  return { id, answer, settle };
}

/**
 * Settles a call.
 * @param {number} id
 * @param {boolean} ok
 * @param {string} json The answer, or `{ message, status, code }`.
 */
export function deliver(id, ok, json) {
  const settle = pending[id];
  if (!settle) return;
  delete pending[id];
  if (ok) {
    settle.resolve(json === '' ? undefined : parse(json));
    return;
  }
  const { message, status, code } = parse(json);
  refusal = message;
  settle.reject(assign(new GuestError(message), { status, code }));
}

/**
 * The reason to append to an uncaught error: `fetch failed` has it only in its cause.
 * @param {{ name?: string | undefined, message?: string | undefined }} failure
 */
export function reasonOf({ name, message }) {
  if (name !== 'TypeError' || (message !== 'fetch failed' && message !== 'terminated')) return '';
  // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
  return refusal === '' ? '' : ': ' + refusal;
}

/** Forgets the calls of the run that has ended. */
export function abandonCalls() {
  pending = create(null);
  refusal = '';
}
