/** Replaces SVC in headers, the query parameter, and the client object and error module of transforms, not in keys. */
export function withHeaderPrefix(text: string, prefix: string): string {
  return text.replace(/\bSVC\b/g, prefix).replace(/\bsvc\b/g, prefix.toLowerCase());
}
