import { decodeBody } from '../http/content-coding.ts';

/**
 * Decodes the held bodies of each Tenant one after another. A few kilobytes decode to megabytes, in libuv's four threads. If
 * one Tenant had all of them, the bodies of others would wait, and on a small machine the main thread would, too.
 */
export interface Decodings {
  /** Call the result when memory for the body is reserved, because no body may wait for memory while others wait for it. */
  of(tenantId: string): typeof decodeBody;
}

export function newDecodings(): Decodings {
  const last = new Map<string, Promise<unknown>>();

  function inTurn<T>(tenantId: string, decode: () => Promise<T>): Promise<T> {
    const decoded = last.get(tenantId)?.then(decode) ?? decode();
    const settled = decoded.then(
      () => {},
      () => {}, // the caller has the error
    );
    last.set(tenantId, settled);
    void settled.then(() => {
      if (last.get(tenantId) === settled) last.delete(tenantId);
    });
    return decoded;
  }

  return {
    of: (tenantId) => (body, codings, limitBytes) => inTurn(tenantId, () => decodeBody(body, codings, limitBytes)),
  };
}
