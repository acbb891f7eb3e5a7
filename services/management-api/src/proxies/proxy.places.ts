import type { TypeOf } from '@sluice/http-api';
import type { FieldErrors } from '@sluice/problems';
import { InvalidExpression, isTokenId, parseHeaderText, type RequestHeader } from '@sluice/vault';
import { faultInSearchedHeader, faultInSetHeader, isHeaderName, repeatedNames } from './header-names.ts';
import type { proxyBody } from './proxy.schema.ts';

type Members = TypeOf<typeof proxyBody>;

const places = ['body', 'query', 'path'];
const headerPlace = 'header:';

/** Faults of `token_places` by path. */
export function faultsOfPlaces({ token_places = [] }: Members, ownPrefix: string): FieldErrors {
  const faults: FieldErrors = {};
  for (const [i, place] of token_places.entries()) {
    if (places.includes(place)) continue;
    const fault = place.startsWith(headerPlace)
      ? faultInSearchedHeader(place.slice(headerPlace.length), ownPrefix)
      : 'must be body, query, path or header:<name>, for example header:x-api-key';
    if (fault) faults[`token_places[${i}]`] = [fault];
  }
  return faults;
}

const mostLines = 100;
const mostBytes = 16 * 1024;
/** Of a line, besides name and text: a colon, a blank, and the end. */
const bytesAround = 4;

/** Faults of `request_headers` by path. */
export function faultsOfRequestHeaders(definition: Members, ownPrefix: string): FieldErrors {
  const headers = Object.entries(definition.request_headers ?? {});
  if (headers.length > mostLines) return { request_headers: [`may have at most ${mostLines} headers`] };
  const bytes = headers.reduce((sum, [name, text]) => sum + Buffer.byteLength(name + text) + bytesAround, 0);
  if (bytes > mostBytes) return { request_headers: [`may have at most ${mostBytes} bytes in total`] };
  // A text that is no name may be a secret that was put in the wrong place, so it is not repeated
  if (!headers.every(([name]) => isHeaderName(name))) return { request_headers: ['must have names of headers'] };
  const repeated = repeatedNames(headers.map(([name]) => name));
  const faults = headers.map(([name, text]): [string, string | undefined] => {
    if (repeated.includes(name)) return [name, 'is the same header as another one, because case does not matter'];
    return [name, faultInSetHeader(name, ownPrefix) ?? faultInText(text, definition.configuration ?? {})];
  });
  return Object.fromEntries(faults.flatMap(([name, fault]) => (fault ? [[`request_headers.${name}`, [fault]]] : [])));
}

function faultInText(text: string, configuration: object): string | undefined {
  try {
    const parts = parseHeaderText(text);
    return faultInParts(parts, configuration) ?? faultInLiterals(parts);
  } catch (error) {
    if (!(error instanceof InvalidExpression)) throw error;
    return `is malformed: ${error.detail.replace(/^T/, 't')}`;
  }
}

function faultInParts(parts: RequestHeader['parts'], configuration: object): string | undefined {
  for (const part of parts) {
    if (part.kind === 'literal') continue;
    const at = `at character ${part.start}`;
    if (part.kind === 'configuration') {
      if (!Object.hasOwn(configuration, part.name))
        return `names ${part.name} ${at}, but the configuration has no such name`;
    } else if (!isTokenId(part.reference)) return `must have a token id, or "config:" followed by a name, ${at}`;
  }
  return undefined;
}

/** What a value adds is judged in each call. */
function faultInLiterals(parts: RequestHeader['parts']): string | undefined {
  const [first, last] = [parts[0], parts.at(-1)];
  for (const part of parts) {
    if (part.kind !== 'literal') continue;
    if (!/^[\x20-\x7e]*$/.test(part.text)) return 'must have printable ASCII characters only';
    const hasBlank = (part === first && part.text.startsWith(' ')) || (part === last && part.text.endsWith(' '));
    if (hasBlank) return 'must not begin or end with a blank';
  }
  return undefined;
}

interface Headers {
  request_headers?: unknown;
}

/** The members that a merge patch will change, under the patch's spelling of the names of headers. */
export function respelled<C extends Headers>(current: C, { request_headers: patch }: Headers): C {
  if (!isObject(current.request_headers) || !isObject(patch)) return current;
  const patched = new Set(Object.keys(patch).map((name) => name.toLowerCase()));
  const kept = Object.entries(current.request_headers).filter(
    ([name]) => !patched.has(name.toLowerCase()) || Object.hasOwn(patch, name),
  );
  return { ...current, request_headers: Object.fromEntries(kept) };
}

/** Two spellings of one name in a patch, of which it is unknown which counts. */
export function faultsOfSpelling({ request_headers: patch }: Headers): FieldErrors {
  const repeated = isObject(patch) ? repeatedNames(Object.keys(patch)) : [];
  return Object.fromEntries(
    repeated.map((name) => [
      `request_headers.${name}`,
      ['is the same header as another one, because case does not matter'],
    ]),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
