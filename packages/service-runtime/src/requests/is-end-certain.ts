import type { IncomingMessage } from 'node:http';

/**
 * Whether every reader agrees on where this request ends: its only transfer coding is chunked, in HTTP/1.1, and its length
 * is one that numbers can count (RFC 9112 section 6). Where it is not certain, nothing that follows on the connection may
 * be read, since it could be a part of this request.
 */
export function isEndCertain({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && httpVersion === '1.1';
  return Number(headers['content-length'] ?? 0) <= Number.MAX_SAFE_INTEGER;
}
