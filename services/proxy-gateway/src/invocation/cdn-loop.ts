import { ServiceError } from '@sluice/problems';

const ownName = 'sluice';
const mostPasses = 4;
/**
 * A quoted text up to its closing quote. If there is none, it matches to the end of the header, so that the search
 * stays linear.
 */
const quotedText = /"(?:[^"\\]|\\.?)*("|$)/gs;

/**
 * The `CDN-Loop` header of the call (RFC 8586): the one of the request with our own member added.
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

/** Removes quoted text, whose commas separate no members. A quote that is never closed is kept as it is. */
function keptOf(quoted: string, end: string): string {
  return end === '' ? quoted : '';
}

/** A member is a name, which may have a port, and parameters. */
function isOwn(member: string): boolean {
  const [name = ''] = member.split(/[;:]/, 1);
  return name.trim().toLowerCase() === ownName;
}
