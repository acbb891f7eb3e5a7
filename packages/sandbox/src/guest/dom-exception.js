/** `DOMException` (Web IDL), the error of `AbortController` and others. */

/** @type {Record<string, number>} */
const codes = { InvalidCharacterError: 5, SyntaxError: 12, AbortError: 20, TimeoutError: 23, DataCloneError: 25 };

export class DOMException extends Error {
  #name;

  /** @param {unknown} [message] @param {unknown} [name] */
  constructor(message = '', name = 'Error') {
    super(String(message));
    this.#name = String(name);
  }

  // @ts-expect-error The standard has a getter where Error has a member
  get name() {
    return this.#name;
  }

  get code() {
    return Object.hasOwn(codes, this.#name) ? codes[this.#name] : 0;
  }
}
