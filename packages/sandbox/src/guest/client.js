/** The client of the service: `req.svc`. Every call is one message to the host and one promise. */
import { abandonCalls as abandonAll, call as callHost } from './calls.js';
import { host, stringify } from './host.js';

const { freeze, keys } = Object;
const { apply } = Reflect;
const { indexOf } = String.prototype;
const GuestTypeError = TypeError;
const GuestProxy = Proxy;

/**
 * @param {string} operation
 * @param {unknown} payload
 */
function call(operation, payload) {
  return callHost((id) => {
    const json = stringify(payload);
    if (json === undefined) throw new GuestTypeError(`${operation} needs a JSON value`);
    host.call(id, operation, json);
  }).answer;
}

/** @type {string | undefined} */
let missing;

/**
 * For a misspelt method QuickJS says only "not a function", so its name is stored for the hint.
 * @template {object} T
 * @param {T} members
 * @param {string} path
 * @returns {T}
 */
function noting(members, path) {
  /** @param {object} target @param {string | symbol} name */
  const get = (target, name) => {
    if (typeof name === 'string' && !(name in target)) missing = path + name;
    return /** @type {Record<string | symbol, unknown>} */ (target)[name];
  };
  // Without a prototype, so that the code cannot add traps.
  return new GuestProxy(freeze(members), /** @type {ProxyHandler<T>} */ ({ __proto__: null, get }));
}

const tokens = {
  /** @param {unknown} token */
  create: (token) => call('tokens.create', token),
  /** @param {string} id */
  retrieve: (id) => call('tokens.retrieve', { id }),
  /** @param {string} id @param {unknown} patch */
  update: (id, patch) => call('tokens.update', { id, patch }),
  /** @param {string} id */
  delete: (id) => call('tokens.delete', { id }),
};

const own = {
  /** @param {unknown} value */
  tokenize: (value) => call('tokenize', value),
  /** @param {unknown} value */
  detokenize: (value) => call('detokenize', value),
};

const methods = [...keys(tokens).map((name) => `tokens.${name}`), ...keys(own)].join(', ');

export const client = noting(
  { tokens: noting(tokens, `${host.headerPrefix}.tokens.`), ...own },
  `${host.headerPrefix}.`,
);

/**
 * The hint to append to an error that a misspelt method of the client caused.
 * @param {{ name?: string | undefined, message?: string | undefined }} failure
 */
export function hintOf({ name, message }) {
  if (missing === undefined || name !== 'TypeError' || message === undefined) return '';
  if (apply(indexOf, message, ['not a function']) === -1) return '';
  // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
  return '; there is no ' + missing + ', only ' + methods;
}

/** Forgets the calls of the run that has ended. */
export function abandonCalls() {
  abandonAll();
  missing = undefined;
}
