/**
 * The functions of the host, removed from the global object before any code of a Tenant runs. They take and give only text.
 *
 * @typedef {object} Host
 * @property {(operation: string, argumentsJson: string) => string} bridge Answers `[1, value]` or `[0, error]` as JSON.
 * @property {(id: number, operation: string, payloadJson: string) => void} call Starts a call of the service's client.
 * @property {(id: number, requestJson: string) => void} [fetch] Only for reactors, like the two others of `fetch`.
 * @property {(id: number, call: number) => void} [readFetched] Starts to read the body of the answer to a call.
 * @property {(call: number) => void} [abortFetch]
 * @property {(failureJson: string) => void} fail
 * @property {(level: string, text: string) => void} print
 * @property {(name: string) => Record<string, unknown>} load The exports of another file of this folder.
 * @property {string} headerPrefix In lower case.
 */

const global = /** @type {{ sluiceHost?: Host }} */ (globalThis);

export const host = /** @type {Host} */ (global.sluiceHost);
delete global.sluiceHost;

/** Saved before the Tenant's code can redefine them. */
export const { parse, stringify } = JSON;
const errorTypes = { Error, RangeError, TypeError, __proto__: null };

/**
 * Runs an operation of Node.js itself, for example `bridge('hash', 'sha256', …)`, and throws its error.
 * @param {string} operation
 * @param {...unknown} parameters JSON values
 * @returns {unknown}
 */
export function bridge(operation, ...parameters) {
  const answer = parse(host.bridge(operation, stringify(parameters)));
  if (answer[0] === 1) return answer[1];
  const { name, message, code } = answer[1];
  const ErrorType =
    /** @type {Record<string, ErrorConstructor>} */ (/** @type {unknown} */ (errorTypes))[name] ?? Error;
  const error = new ErrorType(message);
  if (code !== undefined) Object.assign(error, { code });
  throw error;
}

/**
 * @param {string} operation
 * @param {...unknown} parameters
 */
export const bridgeText = (operation, ...parameters) => /** @type {string} */ (bridge(operation, ...parameters));
