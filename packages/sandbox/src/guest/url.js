/** `URL` and `URLSearchParams` (WHATWG URL), parsed and serialised by Node.js behind the bridge. */
import { bridge, bridgeText } from './host.js';
import { inspect } from './inspect.js';

/**
 * @typedef {{ href: string, origin: string, protocol: string, username: string, password: string, host: string,
 *   hostname: string, port: string, pathname: string, search: string, hash: string }} Parts
 */

export class URLSearchParams {
  /** @type {[string, string][]} */
  #pairs = [];
  /** @type {((query: string) => void) | undefined} */
  #changed;

  /** @param {unknown} [init] Text, pairs, or an object */
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init === 'object') {
      const pairs =
        Symbol.iterator in init ? [.../** @type {Iterable<[unknown, unknown]>} */ (init)] : Object.entries(init);
      this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
    } else this.#pairs = parsePairs(String(init));
  }

  /**
   * The parameters of a URL, which is updated with each change.
   * @param {URLSearchParams} parameters
   * @param {(query: string) => void} changed
   */
  static attach(parameters, changed) {
    parameters.#changed = changed;
  }

  /** @param {URLSearchParams} parameters @param {string} query */
  static reload(parameters, query) {
    parameters.#pairs = parsePairs(query);
  }

  get size() {
    return this.#pairs.length;
  }

  /** @param {string} name @param {string} value */
  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#update();
  }

  /** @param {string} name @param {string} [value] */
  delete(name, value) {
    this.#pairs = this.#pairs.filter(
      (pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)),
    );
    this.#update();
  }

  /** @param {string} name */
  get(name) {
    return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null;
  }

  /** @param {string} name */
  getAll(name) {
    return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
  }

  /** @param {string} name @param {string} [value] */
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    const index = this.#pairs.findIndex((pair) => pair[0] === String(name));
    if (index === -1) this.#pairs.push([String(name), String(value)]);
    else {
      this.#pairs[index] = [String(name), String(value)];
      this.#pairs = this.#pairs.filter((pair, position) => position <= index || pair[0] !== String(name));
    }
    this.#update();
  }

  sort() {
    this.#pairs.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    this.#update();
  }

  /** @param {(value: string, name: string, parameters: URLSearchParams) => void} callback @param {unknown} [receiver] */
  forEach(callback, receiver) {
    for (const [name, value] of this.#pairs) callback.call(receiver, value, name, this);
  }

  *entries() {
    for (const [name, value] of this.#pairs) yield/** @type {[string, string]} */ ([name, value]);
  }

  *keys() {
    for (const [name] of this.#pairs) yield name;
  }

  *values() {
    for (const [, value] of this.#pairs) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.#pairs.length === 0 ? '' : bridgeText('formatPairs', this.#pairs);
  }

  #update() {
    this.#changed?.(this.toString());
  }

  [inspect.custom]() {
    return `URLSearchParams { ${this.#pairs.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`).join(', ')} }`;
  }
}

const { attach, reload } = URLSearchParams;

/** @param {string} text */
const parsePairs = (text) => /** @type {[string, string][]} */ (text === '' ? [] : bridge('parsePairs', text));

export class URL {
  /** @type {Parts} */
  #parts;
  #searchParams;

  /** @param {unknown} input @param {unknown} [base] */
  constructor(input, base) {
    this.#parts = parseUrl(input, base);
    this.#searchParams = new URLSearchParams(this.#parts.search);
    attach(this.#searchParams, (query) => {
      this.#parts = /** @type {Parts} */ (bridge('setUrl', this.#parts.href, 'search', query));
    });
  }

  /** @param {unknown} input @param {unknown} [base] */
  static canParse(input, base) {
    return bridge('canParseUrl', String(input), base === undefined ? undefined : String(base));
  }

  get origin() {
    return this.#parts.origin;
  }

  get searchParams() {
    return this.#searchParams;
  }

  toString() {
    return this.#parts.href;
  }

  toJSON() {
    return this.#parts.href;
  }

  [inspect.custom]() {
    return `URL ${inspect({ ...this.#parts })}`;
  }

  /** @param {URL} url @param {keyof Parts} part */
  static read(url, part) {
    return url.#parts[part];
  }

  /** @param {URL} url @param {keyof Parts} part @param {unknown} value */
  static write(url, part, value) {
    url.#parts = /** @type {Parts} */ (
      part === 'href' ? parseUrl(value, undefined) : bridge('setUrl', url.#parts.href, part, String(value))
    );
    reload(url.#searchParams, url.#parts.search);
  }
}

const { read, write } = URL;

for (const part of /** @type {const} */ ([
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
])) {
  Object.defineProperty(URL.prototype, part, {
    /** @this {URL} */
    get() {
      return read(this, part);
    },
    /** @this {URL} @param {unknown} value */
    set(value) {
      write(this, part, value);
    },
    configurable: true,
    enumerable: true,
  });
}
for (const internal of ['read', 'write']) Reflect.deleteProperty(URL, internal);
for (const internal of ['attach', 'reload']) Reflect.deleteProperty(URLSearchParams, internal);

/** @param {unknown} input @param {unknown} base */
function parseUrl(input, base) {
  return /** @type {Parts} */ (bridge('parseUrl', String(input), base === undefined ? undefined : String(base)));
}
