/** The module `svc-errors`. Its errors have a private member, so that no other object can imitate one. */
const { create, keys } = Object;
const { isArray } = Array;
const { stringify } = JSON;
const GuestTypeError = TypeError;
const GuestRangeError = RangeError;

/** @typedef {Record<string, string[]>} FieldErrors */

class ServiceError extends Error {
  /** @type {string} */
  #code;
  /** @type {FieldErrors | undefined} */
  #errors;

  /**
   * @param {string} code
   * @param {number} status
   * @param {unknown} message Text, or the errors themselves
   * @param {unknown} options `{ errors }`, or the errors themselves
   */
  constructor(code, status, message, options) {
    const errors = fieldErrors(typeof message === 'object' && message !== null ? message : options);
    super(typeof message === 'string' ? message : firstMessage(errors));
    this.name = new.target.name;
    this.status = status;
    this.errors = errors;
    this.#code = code;
    this.#errors = errors;
  }

  /** @param {object} thrown */
  static describe(thrown) {
    return #code in thrown ? { code: thrown.#code, errors: thrown.#errors } : undefined;
  }
}

/**
 * @param {unknown} options
 * @returns {FieldErrors | undefined}
 */
function fieldErrors(options) {
  if (options === undefined || options === null) return undefined;
  const map = isMap(options) && isMap(options.errors) ? options.errors : options;
  if (!isMap(map)) throw new GuestTypeError('errors must be an object of lists of text');
  const copy = create(null);
  for (const key of keys(map)) {
    const messages = typeof map[key] === 'string' ? [map[key]] : map[key];
    if (!isArray(messages) || !messages.every((text) => typeof text === 'string')) {
      throw new GuestTypeError('errors must be an object of lists of text');
    }
    copy[key] = messages;
  }
  return copy;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isMap(value) {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** @param {FieldErrors | undefined} errors */
function firstMessage(errors) {
  if (!errors) return '';
  const [first] = keys(errors);
  return first === undefined ? '' : `${first} ${errors[first]?.[0] ?? ''}`;
}

class BadRequestError extends ServiceError {
  /** @param {unknown} [message] @param {unknown} [options] */
  constructor(message, options) {
    super('bad_request', 400, message, options);
  }
}

class AuthenticationError extends ServiceError {
  /** @param {unknown} [message] @param {unknown} [options] */
  constructor(message, options) {
    super('unauthenticated', 401, message, options);
  }
}

class AuthorizationError extends ServiceError {
  /** @param {unknown} [message] @param {unknown} [options] */
  constructor(message, options) {
    super('forbidden', 403, message, options);
  }
}

class RateLimitError extends ServiceError {
  /** @param {unknown} [message] @param {unknown} [options] */
  constructor(message, options) {
    super('too_many_requests', 429, message, options);
  }
}

class TransformRuntimeError extends ServiceError {
  /** @param {unknown} [message] @param {unknown} [options] */
  constructor(message, options) {
    super('transform_failed', 500, message, options);
  }
}

/** The whole response to the caller, without `proxy_error` around it. */
class CustomHttpResponseError extends Error {
  /** @type {{ status: number, headersJson: string, bodyJson: string | undefined }} */
  #response;

  /** @param {{ status?: number, headers?: Record<string, unknown>, body?: unknown }} [response] */
  constructor(response = {}) {
    const { status = 500, headers = {}, body } = response;
    if (!Number.isInteger(status) || status < 100 || status > 599) {
      throw new GuestRangeError('status must be an integer from 100 to 599');
    }
    if (!isMap(headers)) throw new GuestTypeError('headers must be an object');
    const headersJson = stringify(headers);
    if (headersJson === undefined) throw new GuestTypeError('headers must be an object');
    super(`HTTP response ${status}`);
    this.name = 'CustomHttpResponseError';
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.#response = { status, headersJson, bodyJson: stringify(body) };
  }

  /** @param {object} thrown */
  static describe(thrown) {
    return #response in thrown ? thrown.#response : undefined;
  }
}

/** What `require` returns. */
export const exported = {
  BadRequestError,
  AuthenticationError,
  AuthorizationError,
  RateLimitError,
  TransformRuntimeError,
  CustomHttpResponseError,
};

export const describeServiceError = ServiceError.describe;
export const describeResponse = CustomHttpResponseError.describe;
