/** The module `assert`, and `assert.strict`. */
import { isDeepEqual } from './deep-equal.js';
import { inspect } from './inspect.js';

/** @typedef {{ message?: string, actual?: unknown, expected?: unknown, operator?: string }} Details */

class AssertionError extends Error {
  /** @param {Details} details */
  constructor({ message, actual, expected, operator }) {
    super(message ?? `Expected values to be ${operator}: ${inspect(actual)} and ${inspect(expected)}`);
    this.name = 'AssertionError';
    this.code = 'ERR_ASSERTION';
    this.generatedMessage = message === undefined;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
}

/** @param {boolean} holds @param {unknown} message Text or the error to throw @param {Details} details */
function check(holds, message, details) {
  if (holds) return;
  if (message instanceof Error) throw message;
  throw new AssertionError(message === undefined ? details : { ...details, message: String(message) });
}

/** @param {string} operator @param {(actual: unknown, expected: unknown) => boolean} holds */
const comparison =
  (operator, holds) =>
  /** @param {unknown} actual @param {unknown} expected @param {unknown} [message] */
  (actual, expected, message) =>
    check(holds(actual, expected), message, { actual, expected, operator });

/** @param {unknown} value @param {unknown} [message] */
function ok(value, message) {
  check(Boolean(value), message ?? 'The expression evaluated to a falsy value', {
    actual: value,
    expected: true,
    operator: '==',
  });
}

/** @param {unknown} error @param {unknown} expected */
function matches(error, expected) {
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return true;
    return !(expected.prototype instanceof Error || expected === Error) && expected.call({}, error) === true;
  }
  if (typeof expected !== 'object' || expected === null) return true;
  return Object.entries(expected).every(([key, value]) => {
    const actual = Reflect.get(Object(error), key);
    return value instanceof RegExp && typeof actual === 'string'
      ? value.test(actual)
      : isDeepEqual(actual, value, true);
  });
}

/** @param {unknown} error @param {unknown} expected @param {unknown} message */
function checkThrown(error, expected, message) {
  const text = typeof expected === 'string' ? expected : message;
  if (!matches(error, expected)) {
    if (error instanceof Error && typeof expected === 'function') throw error;
    check(false, text, { actual: error, expected, operator: 'throws' });
  }
}

/** @param {() => unknown} code @param {unknown} [expected] @param {unknown} [message] */
function throws(code, expected, message) {
  try {
    code();
  } catch (error) {
    checkThrown(error, expected, message);
    return;
  }
  throw new AssertionError({ message: String(message ?? 'Missing expected exception.'), expected, operator: 'throws' });
}

/** @param {Promise<unknown> | (() => Promise<unknown>)} code @param {unknown} [expected] @param {unknown} [message] */
async function rejects(code, expected, message) {
  try {
    await (typeof code === 'function' ? code() : code);
  } catch (error) {
    checkThrown(error, expected, message);
    return;
  }
  throw new AssertionError({
    message: String(message ?? 'Missing expected rejection.'),
    expected,
    operator: 'rejects',
  });
}

/** @param {() => unknown} code @param {unknown} [expected] @param {unknown} [message] */
function doesNotThrow(code, expected, message) {
  try {
    code();
  } catch (error) {
    unwanted('exception', error, typeof expected === 'string' ? expected : message);
  }
}

/** @param {Promise<unknown> | (() => Promise<unknown>)} code @param {unknown} [expected] @param {unknown} [message] */
async function doesNotReject(code, expected, message) {
  try {
    await (typeof code === 'function' ? code() : code);
  } catch (error) {
    unwanted('rejection', error, typeof expected === 'string' ? expected : message);
  }
}

/** @param {string} kind @param {unknown} error @param {unknown} message */
function unwanted(kind, error, message) {
  const told = error instanceof Error ? error.message : String(error);
  throw new AssertionError({
    message: `Got unwanted ${kind}${message === undefined ? '.' : `: ${message}`}\nActual message: "${told}"`,
    actual: error,
    operator: kind === 'exception' ? 'doesNotThrow' : 'doesNotReject',
  });
}

/** Throws the value unless it is null or undefined; for callbacks. @param {unknown} value */
function ifError(value) {
  if (value === null || value === undefined) return;
  const told = value instanceof Error ? value.message || value.name : inspect(value);
  throw new AssertionError({
    message: `ifError got unwanted exception: ${told}`,
    actual: value,
    expected: null,
    operator: 'ifError',
  });
}

/** @param {unknown} [message] */
function fail(message = 'Failed') {
  check(false, message, { operator: 'fail' });
}

/** @param {string} text @param {RegExp} pattern @param {unknown} [message] */
const match = (text, pattern, message) =>
  check(pattern.test(text), message, { actual: text, expected: pattern, operator: 'match' });

/** @param {string} text @param {RegExp} pattern @param {unknown} [message] */
const doesNotMatch = (text, pattern, message) =>
  check(!pattern.test(text), message, { actual: text, expected: pattern, operator: 'doesNotMatch' });

const strictMethods = {
  AssertionError,
  ok,
  fail,
  match,
  doesNotMatch,
  throws,
  rejects,
  doesNotThrow,
  doesNotReject,
  ifError,
  strictEqual: comparison('strictEqual', Object.is),
  notStrictEqual: comparison('notStrictEqual', (actual, expected) => !Object.is(actual, expected)),
  deepStrictEqual: comparison('deepStrictEqual', (actual, expected) => isDeepEqual(actual, expected, true)),
  notDeepStrictEqual: comparison('notDeepStrictEqual', (actual, expected) => !isDeepEqual(actual, expected, true)),
};

const strict = Object.assign(/** @type {typeof ok} */ ((value, message) => ok(value, message)), strictMethods, {
  equal: strictMethods.strictEqual,
  notEqual: strictMethods.notStrictEqual,
  deepEqual: strictMethods.deepStrictEqual,
  notDeepEqual: strictMethods.notDeepStrictEqual,
});

Object.assign(strict, { strict });

export const exported = Object.assign(
  /** @type {typeof ok} */ ((value, message) => ok(value, message)),
  strictMethods,
  {
    // biome-ignore lint/suspicious/noDoubleEquals: what the loose form means
    equal: comparison('==', (actual, expected) => actual == expected),
    // biome-ignore lint/suspicious/noDoubleEquals: what the loose form means
    notEqual: comparison('!=', (actual, expected) => actual != expected),
    deepEqual: comparison('deepEqual', (actual, expected) => isDeepEqual(actual, expected, false)),
    notDeepEqual: comparison('notDeepEqual', (actual, expected) => !isDeepEqual(actual, expected, false)),
    strict,
  },
);
