/** The module `querystring`. */
import { bridge, bridgeText } from './host.js';

/** @typedef {{ maxKeys?: number, decodeURIComponent?: (text: string) => string }} ParseOptions */

/** @param {string} text @param {string} [separator] @param {string} [equals] @param {ParseOptions} [options] */
export function parse(text, separator, equals, options = {}) {
  const decode = options.decodeURIComponent;
  if (typeof decode === 'function') return parseBy(decode, String(text), separator || '&', equals || '=', options);
  const result = bridge('parseQuery', String(text), separator ?? null, equals ?? null, options.maxKeys ?? null);
  return Object.assign(Object.create(null), result);
}

/** @param {(text: string) => string} decode @param {string} text @param {string} separator @param {string} equals @param {ParseOptions} options */
function parseBy(decode, text, separator, equals, { maxKeys = 1000 }) {
  const result = Object.create(null);
  const pairs = text.split(separator).filter((pair) => pair !== '');
  /** @param {string} part */
  const decoded = (part) => {
    const spaced = part.replaceAll('+', '%20');
    try {
      return decode(spaced);
    } catch {
      return unescapeText(spaced);
    }
  };
  for (const pair of maxKeys > 0 ? pairs.slice(0, maxKeys) : pairs) {
    const at = pair.indexOf(equals);
    const name = decoded(at === -1 ? pair : pair.slice(0, at));
    const value = at === -1 ? '' : decoded(pair.slice(at + equals.length));
    result[name] = name in result ? [result[name], value].flat() : value;
  }
  return result;
}

/** @param {unknown} value @param {string} [separator] @param {string} [equals] @param {{ encodeURIComponent?: (text: string) => string }} [options] */
export function stringify(value, separator, equals, options = {}) {
  const encode = options.encodeURIComponent;
  if (typeof encode !== 'function') return bridgeText('formatQuery', value ?? null, separator ?? null, equals ?? null);
  if (typeof value !== 'object' || value === null) return '';
  /** @param {unknown} part */
  const encoded = (part) => encode(/^(string|number|bigint|boolean)$/.test(typeof part) ? String(part) : '');
  return Object.entries(value)
    .flatMap(([name, one]) => [one].flat().map((part) => encoded(name) + (equals || '=') + encoded(part)))
    .join(separator || '&');
}

/** @param {unknown} text */
const escapeText = (text) => bridgeText('escapeQuery', String(text));
/** @param {unknown} text */
const unescapeText = (text) => bridgeText('unescapeQuery', String(text));

export const exported = {
  parse,
  stringify,
  escape: escapeText,
  unescape: unescapeText,
  decode: parse,
  encode: stringify,
};
