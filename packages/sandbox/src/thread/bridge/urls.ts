import { posix } from 'node:path';
import querystring from 'node:querystring';
import legacyUrl from 'node:url';
import { optionalText, text } from './parameters.ts';

const settable = [
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

function partsOf(url: URL) {
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  return { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash };
}

function setUrl(href: unknown, part: unknown, value: unknown) {
  const url = new URL(text(href));
  const name = settable.find((known) => known === part);
  if (!name) throw new TypeError('Unknown part of a URL');
  url[name] = text(value);
  return partsOf(url);
}

const isPair = (pair: unknown): pair is [string, string] =>
  Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string';

export const urlOperations = {
  parseUrl: (input: unknown, base: unknown) => partsOf(new URL(text(input), optionalText(base))),
  canParseUrl: (input: unknown, base: unknown) => URL.canParse(text(input), optionalText(base)),
  setUrl,
  parsePairs: (query: unknown) => [...new URLSearchParams(text(query))],
  formatPairs: (pairs: unknown) => new URLSearchParams(Array.isArray(pairs) ? pairs.filter(isPair) : []).toString(),

  legacyParse: (url: unknown, slashesDenoteHost: unknown) => ({
    ...legacyUrl.parse(text(url), false, Boolean(slashesDenoteHost)),
  }),
  legacyFormat: (url: unknown) => legacyUrl.format(typeof url === 'string' ? url : Object(url)),
  legacyResolve: (from: unknown, to: unknown) => legacyUrl.resolve(text(from), text(to)),
  fileUrlToPath: (url: unknown) => legacyUrl.fileURLToPath(text(url), { windows: false }),
  pathToFileUrl: (path: unknown) =>
    legacyUrl.pathToFileURL(posix.isAbsolute(text(path)) ? text(path) : `/${path}`, { windows: false }).href,
  domainToAscii: (domain: unknown) => legacyUrl.domainToASCII(text(domain)),
  domainToUnicode: (domain: unknown) => legacyUrl.domainToUnicode(text(domain)),

  parseQuery: (query: unknown, separator: unknown, equals: unknown, maxKeys: unknown) =>
    querystring.parse(
      text(query),
      optionalText(separator),
      optionalText(equals),
      typeof maxKeys === 'number' ? { maxKeys } : undefined,
    ),
  formatQuery: (value: unknown, separator: unknown, equals: unknown) =>
    querystring.stringify(Object(value), optionalText(separator), optionalText(equals)),
  escapeQuery: (value: unknown) => querystring.escape(text(value)),
  unescapeQuery: (value: unknown) => querystring.unescape(text(value)),
};
