import type { IncomingMessage } from 'node:http';

/**
 * Whether every reader agrees where this request ends: its only transfer coding is chunked, in HTTP/1.1, or its length
 * is a safe integer (RFC 9112 section 6). Otherwise nothing after it may be read, because it could be a part of it.
 */
export function isEndCertain({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && httpVersion === '1.1';
  return Number(headers['content-length'] ?? 0) <= Number.MAX_SAFE_INTEGER;
}
