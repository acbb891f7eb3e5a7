/** `Request` of the Fetch standard, for reactors. */
import { AbortController, AbortSignal } from './abort.js';
import { Body, contentOf, share, use } from './body.js';
import { Headers } from './headers.js';
import { URL } from './url.js';

/** @typedef {import('./body.js').Source} Source */
/** @typedef {{ method?: unknown, headers?: import('./headers.js').HeadersInit, body?: unknown, signal?: unknown, redirect?: unknown }} RequestInit */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbidden = ['CONNECT', 'TRACE', 'TRACK'];
const normalized = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
const redirects = ['follow', 'error', 'manual'];

export class Request extends Body {
  /** @type {string} */
  #url;
  /** @type {string} */
  #method;
  /** @type {Headers} */
  #headers;
  /** @type {AbortSignal} */
  #signal;
  /** @type {string} */
  #redirect;

  /** @param {unknown} input @param {RequestInit} [init] */
  constructor(input, init = {}) {
    /** @type {Request | undefined} */
    const from = input instanceof Request ? input : undefined;
    const url = from ? from.url : urlOf(input);
    const method = init.method === undefined ? (from?.method ?? 'GET') : methodOf(init.method);
    const headers = new Headers(init.headers ?? from?.headers);
    const given = init.body ?? null;
    /** @type {Source | null} */
    let source = null;
    if (given !== null) {
      refuseBody(method);
      const { content, type } = contentOf(given);
      source = content;
      if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
    } else if (from) source = use(from);
    if (source !== null) refuseBody(method);
    super(source);
    this.#url = url;
    this.#method = method;
    this.#headers = headers;
    this.#signal = signalOf(init.signal === undefined ? from?.signal : init.signal);
    this.#redirect = redirectOf(init.redirect ?? from?.redirect ?? 'follow');
  }

  get url() {
    return this.#url;
  }

  get method() {
    return this.#method;
  }

  get headers() {
    return this.#headers;
  }

  get signal() {
    return this.#signal;
  }

  /** No redirect is followed, whatever the value. With `error` a redirect rejects. */
  get redirect() {
    return this.#redirect;
  }

  /** @returns {Request} */
  clone() {
    const { url, method, headers, signal, redirect } = this;
    const twin = new Request(url, { method, headers, signal, redirect });
    share(this, twin);
    return twin;
  }

  get [Symbol.toStringTag]() {
    return 'Request';
  }
}

/** @param {unknown} input */
function urlOf(input) {
  const text = String(input);
  if (!URL.canParse(text)) throw new TypeError(`Failed to parse URL from ${text}`);
  const url = /** @type {URL & import('./url.js').Parts} */ (new URL(text));
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('Request cannot be constructed from a URL that includes credentials');
  }
  return url.href;
}

/** @param {unknown} method */
function methodOf(method) {
  const text = String(method);
  const upper = text.toUpperCase();
  if (!token.test(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
  if (forbidden.includes(upper)) throw new TypeError(`'${text}' HTTP method is unsupported.`);
  return normalized.includes(upper) ? upper : text;
}

/** @param {string} method */
function refuseBody(method) {
  if (method === 'GET' || method === 'HEAD') throw new TypeError('Request with GET/HEAD method cannot have body.');
}

/** @param {unknown} signal */
function signalOf(signal) {
  if (signal === undefined || signal === null) return new AbortController().signal;
  if (!(signal instanceof AbortSignal)) throw new TypeError('The signal must be an AbortSignal');
  return AbortSignal.any([signal]);
}

/** @param {unknown} redirect */
function redirectOf(redirect) {
  const text = String(redirect);
  if (!redirects.includes(text)) throw new TypeError(`${text} is not an accepted type for redirect`);
  return text;
}
