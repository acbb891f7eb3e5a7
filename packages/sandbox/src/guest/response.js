/** `Response` of the Fetch standard, for reactors. */
import { Body, contentOf, give, share } from './body.js';
import { frozen, Headers } from './headers.js';
import { URL } from './url.js';

/** @typedef {{ status?: unknown, statusText?: unknown, headers?: import('./headers.js').HeadersInit }} ResponseInit */
/** @typedef {{ url: string, status: number, statusText: string, headers: [string, string][], source: import('./body.js').Source | null }} Answer */

const nullBodies = [101, 204, 205, 304];
const redirects = [301, 302, 303, 307, 308];
const invalidInReason = /[^\t\x20-\x7e\x80-\xff]/;

export class Response extends Body {
  #status;
  #statusText;
  #headers;
  #url = '';
  #type = 'default';

  /** @param {unknown} [body] @param {ResponseInit} [init] */
  constructor(body = null, init = {}) {
    const status = init.status === undefined ? 200 : Number(init.status);
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    }
    const statusText = init.statusText === undefined ? '' : String(init.statusText);
    if (invalidInReason.test(statusText)) throw new TypeError('Invalid statusText');
    const headers = new Headers(init.headers);
    if (body !== null && nullBodies.includes(status)) {
      throw new TypeError(`Response with null body status cannot have body: ${status}`);
    }
    const { content, type } = body === null ? { content: null, type: undefined } : contentOf(body);
    if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
    super(content);
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = headers;
  }

  get status() {
    return this.#status;
  }

  get statusText() {
    return this.#statusText;
  }

  get ok() {
    return this.#status >= 200 && this.#status <= 299;
  }

  get headers() {
    return this.#headers;
  }

  get url() {
    return this.#url;
  }

  get type() {
    return this.#type;
  }

  /** No redirect is followed. */
  get redirected() {
    return false;
  }

  clone() {
    const twin = new Response(null, { headers: this.#headers });
    share(this, twin);
    twin.#status = this.#status;
    twin.#statusText = this.#statusText;
    twin.#url = this.#url;
    twin.#type = this.#type;
    return twin;
  }

  get [Symbol.toStringTag]() {
    return 'Response';
  }

  /** @param {unknown} data @param {ResponseInit} [init] */
  static json(data, init = {}) {
    const json = JSON.stringify(data);
    if (json === undefined) throw new TypeError('Value is not JSON serializable');
    const headers = new Headers(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(json, { ...init, headers });
  }

  static error() {
    const response = new Response();
    response.#status = 0;
    response.#type = 'error';
    frozen(response.#headers);
    return response;
  }

  /** @param {unknown} url @param {unknown} [status] */
  static redirect(url, status = 302) {
    if (!redirects.includes(Number(status))) throw new RangeError(`Invalid status code ${status}`);
    const response = new Response(null, { status, headers: { location: String(new URL(String(url))) } });
    frozen(response.#headers);
    return response;
  }

  /** What a destination has answered, of any status. @param {Answer} answer */
  static from({ url, status, statusText, headers, source }) {
    const response = new Response(null, { headers });
    if (source !== null) give(response, source);
    response.#status = status;
    response.#statusText = statusText;
    response.#url = url;
    response.#type = 'basic';
    frozen(response.#headers);
    return response;
  }
}

export const { from: responseFrom } = Response;
Reflect.deleteProperty(Response, 'from');

/** @param {number} status */
export const isRedirect = (status) => redirects.includes(status);

/** @param {number} status */
export const hasNullBody = (status) => nullBodies.includes(status);
