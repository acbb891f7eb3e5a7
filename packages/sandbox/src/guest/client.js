/** The client of the service: `req.svc`. Every call is one message to the host and one promise. */
import { host, parse, stringify } from './host.js';

const { assign, create, freeze } = Object;
const GuestPromise = Promise;
const GuestError = Error;
const GuestTypeError = TypeError;

/** @typedef {{ resolve(value: unknown): void, reject(error: Error): void }} PendingCall */

/** @type {Record<number, PendingCall>} */
let pending = create(null);
let lastId = 0;
/** @type {PendingCall} */
const unsettled = { resolve: () => {}, reject: () => {} };

/**
 * The executor does nothing, because QuickJS takes an interrupt inside of it for an ordinary error of the promise.
 * @param {string} operation
 * @param {unknown} payload
 */
function call(operation, payload) {
  /** @type {PendingCall} */
  let settlers = unsettled;
  const promise = new GuestPromise((resolve, reject) => {
    settlers = { resolve, reject };
  });
  try {
    const json = stringify(payload);
    if (json === undefined) throw new GuestTypeError(`${operation} needs a JSON value`);
    lastId += 1;
    pending[lastId] = settlers;
    host.call(lastId, operation, json);
  } catch (error) {
    settlers.reject(/** @type {Error} */ (error));
  }
  return promise;
}

export const client = freeze({
  tokens: freeze({
    /** @param {unknown} token */
    create: (token) => call('tokens.create', token),
    /** @param {string} id */
    retrieve: (id) => call('tokens.retrieve', { id }),
    /** @param {string} id @param {unknown} patch */
    update: (id, patch) => call('tokens.update', { id, patch }),
    /** @param {string} id */
    delete: (id) => call('tokens.delete', { id }),
  }),
  /** @param {unknown} value */
  tokenize: (value) => call('tokenize', value),
  /** @param {unknown} value */
  detokenize: (value) => call('detokenize', value),
});

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
  settle.reject(assign(new GuestError(message), { status, code }));
}

/** Forgets the calls of the run that has ended. */
export function abandonCalls() {
  pending = create(null);
}
