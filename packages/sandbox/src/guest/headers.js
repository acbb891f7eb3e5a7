/** `Headers` of the Fetch standard, for reactors. */

/** @typedef {Headers | Iterable<Iterable<unknown>> | Record<string, unknown>} HeadersInit */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const invalidInValue = /[\0\r\n]|[^\0-\xff]/;

export class Headers {
  /** In the order in which they came, with names in lower case. @type {[string, string][]} */
  #lines = [];
  #isImmutable = false;

  /** @param {HeadersInit} [init] */
  constructor(init) {
    if (init === undefined) return;
    if (typeof init !== 'object' || init === null) throw new TypeError('The init of Headers must be an object');
    if (Symbol.iterator in init) {
      for (const pair of init) {
        const [name, value, ...more] = pair;
        if (value === undefined || more.length > 0) throw new TypeError('Each header must be a pair of name and value');
        this.append(name, value);
      }
    } else for (const name of Object.keys(init)) this.append(name, init[name]);
  }

  /** Makes the headers of a received response read-only. @param {Headers} headers */
  static freeze(headers) {
    headers.#isImmutable = true;
    return headers;
  }

  /** @param {unknown} name @param {unknown} value */
  append(name, value) {
    const line = this.#changed(name, value);
    this.#lines.push(line);
  }

  /** @param {unknown} name @param {unknown} value */
  set(name, value) {
    const line = this.#changed(name, value);
    const first = this.#lines.findIndex(([known]) => known === line[0]);
    if (first === -1) {
      this.#lines.push(line);
      return;
    }
    this.#lines = this.#lines.filter(([known], at) => known !== line[0] || at === first);
    this.#lines[first] = line;
  }

  /** @param {unknown} name */
  delete(name) {
    const lower = nameOf(name);
    if (this.#isImmutable) throw immutable();
    this.#lines = this.#lines.filter(([known]) => known !== lower);
  }

  /** @param {unknown} name */
  get(name) {
    const lower = nameOf(name);
    const values = this.#lines.flatMap(([known, value]) => (known === lower ? [value] : []));
    return values.length === 0 ? null : values.join(lower === 'cookie' ? '; ' : ', ');
  }

  getSetCookie() {
    return this.#lines.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : []));
  }

  /** @param {unknown} name */
  has(name) {
    const lower = nameOf(name);
    return this.#lines.some(([known]) => known === lower);
  }

  /** @param {(value: string, name: string, headers: Headers) => void} callback @param {unknown} [thisArgument] */
  forEach(callback, thisArgument) {
    if (typeof callback !== 'function') throw new TypeError('The callback must be a function');
    for (const [name, value] of this) callback.call(thisArgument, value, name, this);
  }

  /** Sorted by name. Lines of one name are joined, except cookies. @returns {IterableIterator<[string, string]>} */
  *entries() {
    const names = [...new Set(this.#lines.map(([name]) => name))].sort();
    for (const name of names) {
      if (name === 'set-cookie') for (const cookie of this.getSetCookie()) yield [name, cookie];
      else yield [name, /** @type {string} */ (this.get(name))];
    }
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  get [Symbol.toStringTag]() {
    return 'Headers';
  }

  /** @param {unknown} name @param {unknown} value @returns {[string, string]} */
  #changed(name, value) {
    const lower = nameOf(name);
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (invalidInValue.test(text))
      throw new TypeError(`The value of the header ${lower} has a character that no header can have`);
    if (this.#isImmutable) throw immutable();
    return [lower, text];
  }
}

export const frozen = Headers.freeze;
Reflect.deleteProperty(Headers, 'freeze');

/** @param {unknown} name */
function nameOf(name) {
  const text = String(name);
  if (!token.test(text)) throw new TypeError(`${text} is no name of a header`);
  return text.toLowerCase();
}

const immutable = () => new TypeError('immutable');
