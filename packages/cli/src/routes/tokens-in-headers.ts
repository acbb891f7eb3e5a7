import type { RouteProxy } from './find-routes.ts';

/**
 * An expression as the service reads it: a quoted text, which stands for itself, or a reference with filters, whose
 * arguments may be quoted texts with braces.
 */
const expression =
  /\{\{\s*(?:(?<quote>["'])(?:(?!\k<quote>|\\).|\\.)*\k<quote>\s*\}\}|(?<reference>[^|{}]*)(?:\|(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'{}])*)?\}\})/gs;

/**
 * The tokens that only the caller's rights reveal: those in `request_headers` of Proxies without an Application. A Proxy
 * whose Application is gone reveals none of them to anybody.
 */
export function tokensInHeaders(proxies: readonly RouteProxy[]): string[] {
  const byCaller = proxies.filter(
    ({ application_id, former_application_id }) => application_id === undefined && former_application_id === undefined,
  );
  const texts = byCaller.flatMap(({ request_headers = {} }) => Object.values(request_headers));
  return [...new Set(texts.flatMap(tokensIn))];
}

function tokensIn(text: string): string[] {
  const references = [...text.matchAll(expression)].map(({ groups }) => groups?.reference?.trim() ?? '');
  return references.filter((reference) => reference !== '' && !reference.startsWith('config:'));
}
