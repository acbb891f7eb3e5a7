import { FairTurns } from '@sluice/fair-turns';
import { decodeBody } from '../http/content-coding.ts';

/** Decodes each Tenant's buffered bodies one after another, so that no Tenant takes all four threads of libuv. */
export interface Decodings {
  /** Call the result once memory for the body is reserved, because a body must not wait for memory while it blocks this queue. */
  of(tenantId: string): typeof decodeBody;
}

export function newDecodings(): Decodings {
  const turns = new FairTurns({ perKey: 1 });
  return {
    of:
      (tenantId) =>
      (...coded) =>
        turns.run(tenantId, () => decodeBody(...coded)),
  };
}
