/** Processors take keys in the query of a URL, or before its host. */
export function mayHoldKey(url: unknown): boolean {
  return typeof url === 'string' && /[?@]/.test(url);
}
