import { ServiceError } from '@sluice/problems';

const ownName = 'sluice';
const mostPasses = 4;
/** Without a closing quote it matches to the end of the header, so that the search stays linear. */
const quotedText = /"(?:[^"\\]|\\.?)*("|$)/gs;

/** Adds our own member (RFC 8586). @throws {ServiceError} `loop_detected` if four of them are present. */
export function nextCdnLoop(received: string | undefined): string {
  if (received === undefined) return ownName;
  const passes = received.replace(quotedText, keptOf).split(',').filter(isOwn).length;
  if (passes >= mostPasses) {
    const detail = `This request has passed through this service ${passes} times: a destination leads back to the Proxy that calls it`;
    throw new ServiceError('loop_detected', detail, { limit: 'loop' });
  }
  return `${received}, ${ownName}`;
}

/** The commas of quoted text separate no members. A quote that is never closed is kept as it is. */
function keptOf(quoted: string, end: string): string {
  return end === '' ? quoted : '';
}

function isOwn(member: string): boolean {
  const [name = ''] = member.split(/[;:]/, 1);
  return name.trim().toLowerCase() === ownName;
}
