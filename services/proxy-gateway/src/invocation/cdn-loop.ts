import { ServiceError } from '@sluice/problems';

const ownName = 'sluice';
const mostPasses = 4;
const quotedText = /"(?:[^"\\]|\\.)*"/g;

/**
 * The `CDN-Loop` header of the call (RFC 8586): what the request came with, and one more member of our own.
 * @throws {ServiceError} `loop_detected` when the request has already come through here four times.
 */
export function nextCdnLoop(received: string | undefined): string {
  if (received === undefined) return ownName;
  const passes = received.replace(quotedText, '').split(',').filter(isOwn).length;
  if (passes >= mostPasses) {
    const detail = `This request has come through here ${passes} times: a destination leads back to the proxy that calls it`;
    throw new ServiceError('loop_detected', detail);
  }
  return `${received}, ${ownName}`;
}

/** A member is a name, which may have a port, and parameters. */
function isOwn(member: string): boolean {
  const [name = ''] = member.split(/[;:]/, 1);
  return name.trim().toLowerCase() === ownName;
}
