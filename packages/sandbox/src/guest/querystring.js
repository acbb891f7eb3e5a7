/** The module `querystring`. */
import { bridge, bridgeText } from './host.js';

/** @param {string} text @param {string} [separator] @param {string} [equals] @param {{ maxKeys?: number }} [options] */
export function parse(text, separator, equals, options) {
  const result = bridge('parseQuery', String(text), separator ?? null, equals ?? null, options?.maxKeys ?? null);
  return Object.assign(Object.create(null), result);
}

/** @param {unknown} value @param {string} [separator] @param {string} [equals] */
export function stringify(value, separator, equals) {
  return bridgeText('formatQuery', value ?? null, separator ?? null, equals ?? null);
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
