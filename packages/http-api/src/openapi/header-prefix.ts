/**
 * A document, as text, for another prefix than SVC: the names of headers, the query parameter, and the client object
 * and error module of transforms all begin with it. Keys (`svc_…`) do not follow the prefix and stay.
 */
export function withHeaderPrefix(text: string, prefix: string): string {
  return text.replace(/\bSVC\b/g, prefix).replace(/\bsvc\b/g, prefix.toLowerCase());
}
