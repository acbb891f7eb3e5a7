import type { Through } from '../token.ts';
import { type BoundToken, type Purpose, refusedMember } from './purpose.ts';

/** Code of a Proxy or a reactor gets the value, and may send it anywhere. */
export function purposeOfCode({ entityType, entityId }: Pick<Through, 'entityType' | 'entityId'>): Purpose {
  return { proxyId: entityType === 'proxy' ? entityId : undefined, call: undefined };
}

/** Whether the answer to a creation may show the value: not if that would be a use that is counted. */
export function mayCodeHave(through: Through, { id, use }: BoundToken, now: Date): boolean {
  return !use || (use.max_uses === undefined && refusedMember(id, use, purposeOfCode(through), now) === undefined);
}
