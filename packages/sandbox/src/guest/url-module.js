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

/** @param {string} from @param {string} to */
const resolveObject = (from, to) => parse(resolve(from, to));

/** The options that `http.request` takes. @param {URL} url */
function urlToHttpOptions(url) {
  const parts = /** @type {Record<string, string>} */ (/** @type {unknown} */ (url));
  const { protocol, hostname, hash, search, pathname, href, port, username, password } = parts;
  return {
    ...{
      protocol,
      hostname: hostname?.replace(/^\[|\]$/g, ''),
      hash,
      search,
      pathname,
      path: `${pathname}${search}`,
      href,
    },
    ...(port !== '' && { port: Number(port) }),
    ...((username || password) && {
      auth: `${decodeURIComponent(username ?? '')}:${decodeURIComponent(password ?? '')}`,
    }),
  };
}

export const exported = {
  URL,
  URLSearchParams,
  parse,
  format,
  resolve,
  resolveObject,
  urlToHttpOptions,
  /** @param {string | URL} url */
  fileURLToPath: (url) => bridgeText('fileUrlToPath', String(url)),
  /** @param {string} path */
  pathToFileURL: (path) => new URL(bridgeText('pathToFileUrl', path)),
  /** @param {string} domain */
  domainToASCII: (domain) => bridgeText('domainToAscii', String(domain)),
  /** @param {string} domain */
  domainToUnicode: (domain) => bridgeText('domainToUnicode', String(domain)),
};
