/**
 * Wraps a Tenant's code. It saves everything that it needs before that code runs, so that a redefined `JSON.stringify`
 * or `Promise.prototype.then` changes only the Tenant's own results and never this wrapper. `await`, `+` of texts and
 * object literals use nothing that can be redefined; method calls on shared prototypes and templates do, so this file
 * has none.
 */
import { reasonOf } from './calls.js';
import { abandonCalls, client, hintOf } from './client.js';
import { describe } from './failures.js';
import { defineGlobals, requireModule } from './globals.js';
import { host, parse, stringify } from './host.js';
import { checkReactorResult, checkResult } from './result.js';
import { clearTimers } from './timers.js';

export { deliver } from './calls.js';
export { fireTimer, passTime } from './timers.js';

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
 * One run. Its promise never rejects: it is fulfilled with the result, or with nothing after `fail`. The result is
 * text, because reading members of an object would run the Tenant's code.
 * @param {string} argsJson
 * @param {string} bodyJson `args.body`, as received from the caller or the destination; empty if it is in `argsJson`.
 * @param {string} configurationJson
 * @param {string | undefined} clientName
 * @returns {Promise<string | undefined>} Body and headers, each as JSON or empty, with a line break between them
 */
export async function invoke(argsJson, bodyJson, configurationJson, clientName) {
  try {
    const run = requireFunction();
    const body = bodyJson === '' ? undefined : parseBody(bodyJson);
    if (body === unreadable) return undefined;
    const args = bodyJson === '' ? parse(argsJson) : { body, ...parse(argsJson) };
    const { method, path, query } = args; // before the code can change them
    const configuration = parse(configurationJson);
    const request = clientName ? { args, configuration, [clientName]: client } : { args, configuration };
    const result = await run(request);
    checkResult(result, { method, path, query });
    const { body: newBody, headers } = result;
    // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
    return toJson('body', newBody) + '\n' + toJson('headers', headers);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/**
 * One run of a reactor, as {@link invoke}.
 * @param {string} argsJson
 * @param {string} configurationJson
 * @param {string | undefined} clientName
 * @returns {Promise<string | undefined>} Two JSON texts with a line break between them: the result, and what is to become tokens
 */
export async function react(argsJson, configurationJson, clientName) {
  try {
    const run = requireFunction();
    const args = parse(argsJson);
    const configuration = parse(configurationJson);
    const request = clientName ? { args, configuration, [clientName]: client } : { args, configuration };
    const result = await run(request);
    checkReactorResult(result);
    const { raw, body, headers, tokenize } = result;
    // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
    return stringify({ __proto__: null, raw, body, headers }) + '\n' + toJson('tokenize', tokenize);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

function requireFunction() {
  if (typeof transform === 'function') return transform;
  throw new GuestTypeError('module.exports is not a function: export an async function (req) { … }');
}

/** @param {unknown} error */
function fail(error) {
  const failure = describe(error);
  if (failure.message !== undefined) failure.message += hintOf(failure) + reasonOf(failure);
  host.fail(stringify(failure));
}

/** @param {string} json */
function parseBody(json) {
  try {
    return parse(json);
  } catch (error) {
    // The text may be valid JSON, if only stack or memory was missing.
    if (!(error instanceof GuestSyntaxError)) throw error;
    host.fail('{"kind":"unreadable"}');
    return unreadable;
  }
}

/** Resets all state of the run that has ended. */
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
