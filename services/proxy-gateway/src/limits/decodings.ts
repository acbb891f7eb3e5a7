import { FairTurns } from '@sluice/fair-turns';
import { decodeBody } from '../http/content-coding.ts';

/** Decodes each Tenant's buffered bodies one after another, so that no Tenant takes all four threads of libuv. */
export class Decodings {
  readonly #turns = new FairTurns({ perKey: 1 });

  /** Call the result once memory for the body is reserved, because a body must not wait for memory while it blocks this queue. */
  of(tenantId: string): typeof decodeBody {
    return (...coded) => this.#turns.run(tenantId, () => decodeBody(...coded));
  }
}
