/**
 * Rewrites a document for another prefix than SVC. Names of headers, the query parameter, and the client object and
 * error module of transforms begin with the prefix; keys (`svc_…`) do not and stay.
 */
export function withHeaderPrefix(text: string, prefix: string): string {
  return text.replace(/\bSVC\b/g, prefix).replace(/\bsvc\b/g, prefix.toLowerCase());
}
