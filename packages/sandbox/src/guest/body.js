/** The bodies of `Request` and `Response` (Fetch standard), which are read as a whole. */
import { asBuffer } from './buffer.js';
import { coding } from './buffer-coding.js';
import { URLSearchParams } from './url.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

/** Text, or one character for each byte. @typedef {{ text: string } | { latin1: string }} Content */

/** What a body is made of, or how it is read. @typedef {Content | (() => Promise<Content>)} Source */

export class Body {
  /** @type {Source | null} */
  #source;
  #isUsed = false;

  /** @param {Source | null} source */
  constructor(source) {
    this.#source = source;
  }

  get bodyUsed() {
    return this.#isUsed;
  }

  /** Decodes as UTF-8 whatever the headers say, as the standard requires. */
  async text() {
    return textOf(await this.#take());
  }

  async json() {
    return JSON.parse(textOf(await this.#take()));
  }

  async arrayBuffer() {
    return bytesOf(await this.#take()).buffer;
  }

  async bytes() {
    return bytesOf(await this.#take());
  }

  /** @returns {Promise<Content>} */
  async #take() {
    if (this.#isUsed) throw unusable();
    if (this.#source === null) return { text: '' };
    this.#isUsed = true;
    return typeof this.#source === 'function' ? this.#source() : this.#source;
  }

  /** Lets another object share the content of `body`, which is then read only once. @param {Body} body @param {Body} other */
  static share(body, other) {
    if (body.#isUsed) throw unusable();
    const source = body.#source;
    if (typeof source === 'function') {
      /** @type {Promise<Content> | undefined} */
      let content;
      body.#source = () => {
        content ??= source();
        return content;
      };
    }
    other.#source = body.#source;
  }

  /** @param {Body} body @param {Source} source */
  static give(body, source) {
    body.#source = source;
  }

  /** For a request that is made of another one, or is sent. @param {Body} body */
  static use(body) {
    if (body.#isUsed) throw unusable();
    const source = body.#source;
    body.#isUsed = source !== null;
    return source;
  }
}

export const { give, share, use } = Body;
Reflect.deleteProperty(Body, 'give');
Reflect.deleteProperty(Body, 'share');
Reflect.deleteProperty(Body, 'use');

/**
 * @param {unknown} body
 * @returns {{ content: Content, type: string | undefined }} The type is that of the header where none is set
 */
export function contentOf(body) {
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    const view =
      body instanceof ArrayBuffer
        ? new Uint8Array(body)
        : new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { content: { latin1: coding('latin1').toText(view) }, type: undefined };
  }
  if (isStream(body)) throw new TypeError('The body must be text, bytes or URLSearchParams: read the stream first');
  const type = body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'text/plain';
  return { content: { text: String(body) }, type: `${type};charset=UTF-8` };
}

/** Node's fetch would read it piece by piece, but bodies cross the boundary as a whole. @param {unknown} body */
function isStream(body) {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || 'getReader' in body);
}

/** @param {Content} content */
function textOf(content) {
  const text = 'text' in content ? content.text.toWellFormed() : decodeUtf8(bytesOf(content));
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** @param {Content} content @returns {Uint8Array<ArrayBuffer>} */
function bytesOf(content) {
  const bytes = 'text' in content ? encodeUtf8(content.text) : coding('latin1').toBytes(content.latin1);
  return new Uint8Array(asBuffer(bytes));
}

const unusable = () => new TypeError('Body is unusable: Body has already been read');
