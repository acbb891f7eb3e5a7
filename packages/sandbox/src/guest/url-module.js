/** The module `url`: the WHATWG classes, and the older `parse`, `format` and `resolve`. */
import { bridge, bridgeText } from './host.js';
import { parse as parseQuery } from './querystring.js';
import { URL, URLSearchParams } from './url.js';

/** @param {string} text @param {boolean} [withQuery] @param {boolean} [slashesDenoteHost] */
function parse(text, withQuery = false, slashesDenoteHost = false) {
  const parts = /** @type {Record<string, unknown>} */ (bridge('legacyParse', text, slashesDenoteHost));
  if (withQuery) parts.query = parseQuery(typeof parts.query === 'string' ? parts.query : '');
  return parts;
}

/** @param {unknown} url Text, a URL, or the parts that `parse` gives */
function format(url) {
  return bridgeText('legacyFormat', url instanceof URL ? String(url) : url);
}

/** @param {string} from @param {string} to */
const resolve = (from, to) => bridgeText('legacyResolve', from, to);

export const exported = { URL, URLSearchParams, parse, format, resolve };
