import { randomUUID } from 'node:crypto';

const acceptable = /^[A-Za-z0-9-]{1,64}$/;

/** Keeps the caller's trace id if it is well-formed. */
export function readTraceId(sent: string | string[] | undefined, ofSpan?: string): string {
  return typeof sent === 'string' && acceptable.test(sent) ? sent : (ofSpan ?? randomUUID());
}
