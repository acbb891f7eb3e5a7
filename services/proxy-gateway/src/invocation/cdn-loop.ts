import { ServiceError } from '@sluice/problems';

const ownName = 'sluice';
const mostPasses = 4;
/**
 * A quoted text, up to its end or to that of the header: then no later quote is closed either, so nothing is read twice.
 */
const quotedText = /"(?:[^"\\]|\\.?)*("|$)/gs;

/**
 * The `CDN-Loop` header of the call (RFC 8586): what the request came with, and one more member of our own.
 * @throws {ServiceError} `loop_detected` when the request has already come through here four times.
 */
export function nextCdnLoop(received: string | undefined): string {
  if (received === undefined) return ownName;
  const passes = received.replace(quotedText, keptOf).split(',').filter(isOwn).length;
  if (passes >= mostPasses) {
    const detail = `This request has come through here ${passes} times: a destination leads back to the proxy that calls it`;
    throw new ServiceError('loop_detected', detail, { limit: 'loop' });
  }
  return `${received}, ${ownName}`;
}

/** Commas in quoted text separate nothing. A quote that is never closed makes no quoted text. */
function keptOf(quoted: string, end: string): string {
  return end === '' ? quoted : '';
}

/** A member is a name, which may have a port, and parameters. */
function isOwn(member: string): boolean {
  const [name = ''] = member.split(/[;:]/, 1);
  return name.trim().toLowerCase() === ownName;
}
