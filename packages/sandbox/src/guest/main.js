/**
 * Runs around a Tenant's code. It saves everything that it needs before that code runs, so that a redefined
 * `JSON.stringify` or `Promise.prototype.then` changes the Tenant's own results and never this wrapper. `await`, `+` of
 * texts and object literals use no part of the language that can be redefined; method calls on shared prototypes and
 * templates do, so this file has none.
 */
import { abandonCalls, client } from './client.js';
import { describe } from './failures.js';
import { defineGlobals, requireModule } from './globals.js';
import { host, parse, stringify } from './host.js';
import { clearTimers } from './timers.js';

export { deliver } from './client.js';
export { fireTimer } from './timers.js';

const { isArray } = Array;
const { apply } = Reflect;
const GuestTypeError = TypeError;
const GuestSyntaxError = SyntaxError;
const unreadable = {};

/** @type {unknown} */
let transform;

defineGlobals();

/** Runs the module body once; it exports the transform. @param {Function} body */
export function define(body) {
  try {
    const module = { exports: {} };
    apply(body, module.exports, [module.exports, requireModule, module, 'transform.js', '.']);
    transform = exported(module.exports);
  } catch (error) {
    host.fail(stringify(describe(error)));
  }
}

/** @param {unknown} exports */
function exported(exports) {
  if (typeof exports === 'function') return exports;
  return typeof exports === 'object' && exports !== null && 'default' in exports ? exports.default : undefined;
}

/**
 * One run. Its promise never rejects: it is fulfilled with the result, or with nothing after `fail`. The result is text,
 * because the Tenant's code could answer when the host asks an object.
 * @param {string} argsJson
 * @param {string} bodyJson `args.body`, which the caller or the destination sent; empty where it is in `argsJson`.
 * @param {string} configurationJson
 * @param {string | undefined} clientName
 * @returns {Promise<string | undefined>} Body and headers, each as JSON or empty, with a line break between them
 */
export async function invoke(argsJson, bodyJson, configurationJson, clientName) {
  try {
    if (typeof transform !== 'function') {
      throw new GuestTypeError('module.exports is not a function: export an async function (req) { … }');
    }
    const body = bodyJson === '' ? undefined : parseBody(bodyJson);
    if (body === unreadable) return undefined;
    const args = bodyJson === '' ? parse(argsJson) : { body, ...parse(argsJson) };
    const configuration = parse(configurationJson);
    const request = clientName ? { args, configuration, [clientName]: client } : { args, configuration };
    const result = await transform(request);
    if (typeof result !== 'object' || result === null || isArray(result)) {
      throw new GuestTypeError('the transform must return an object with body and headers');
    }
    const { body: newBody, headers } = result;
    // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
    return toJson('body', newBody) + '\n' + toJson('headers', headers);
  } catch (error) {
    host.fail(stringify(describe(error)));
    return undefined;
  }
}

/** @param {string} json */
function parseBody(json) {
  try {
    return parse(json);
  } catch (error) {
    // It may be JSON, and only stack or memory was missing.
    if (!(error instanceof GuestSyntaxError)) throw error;
    host.fail('{"kind":"unreadable"}');
    return unreadable;
  }
}

/** Forgets all that belongs to the run that has ended. */
export function reset() {
  clearTimers();
  abandonCalls();
}

/**
 * @param {string} member
 * @param {unknown} value
 * @returns {string} Empty when there is none
 */
function toJson(member, value) {
  if (value === undefined) return '';
  const json = stringify(value);
  if (json === undefined) throw new GuestTypeError(`${member} is not a JSON value`);
  return json;
}
