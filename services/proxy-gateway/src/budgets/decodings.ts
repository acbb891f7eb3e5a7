import { decodeBody } from '../http/content-coding.ts';

/** Decodes each Tenant's held bodies one after another, so that none takes all four threads of libuv. */
export interface Decodings {
  /** Call the result once memory for the body is reserved, because no body may wait for memory in its turn. */
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
