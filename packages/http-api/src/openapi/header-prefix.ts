/**
 * Replaces SVC in names of headers, the query parameter, and the client object and error module of transforms. Keys
 * (`svc_…`) stay.
 */
export function withHeaderPrefix(text: string, prefix: string): string {
  return text.replace(/\bSVC\b/g, prefix).replace(/\bsvc\b/g, prefix.toLowerCase());
}
