import type { IncomingMessage } from 'node:http';

/** Whether all readers agree where the request ends (RFC 9112 section 6). Otherwise nothing after it may be read. */
export function isEndCertain({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && httpVersion === '1.1';
  return Number(headers['content-length'] ?? 0) <= Number.MAX_SAFE_INTEGER;
}
