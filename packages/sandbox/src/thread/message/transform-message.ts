/**
 * `args.body` is read from its bytes, and the result is written as bytes, both in the thread, because the main thread
 * serves all Tenants.
 */
export interface TransformMessage {
  body: Uint8Array;
  /** How the body is read. `none`: without a content type it is JSON if it parses. */
  kind: 'json' | 'form' | 'text' | 'none';
  contentType: string | undefined;
  limits: MessageLimits;
}

/** The message once its bytes are decoded. */
export interface DecodedMessage extends Omit<TransformMessage, 'body'> {
  /** For a form in another charset than UTF-8 its bytes as Latin-1, because its escapes mean bytes too. */
  text: string;
  /** The name of a WHATWG encoding; UTF-8 if absent. */
  charset?: string;
}

export interface MessageLimits {
  formPairs: number;
  headerLines: number;
  /** Size of names and values, with `: ` and the line's end. */
  headerBytes: number;
}

export interface WrittenMessage {
  /** Alternating names and values; undefined: the message keeps its own. */
  headers: string[] | undefined;
  /** Undefined: the message keeps its own. */
  body: Uint8Array | undefined;
  /** The body is JSON, but no header says so. */
  lacksContentType: boolean;
}

/** For another thread. A part of Node's pool would take the whole pool along, with bytes of other Tenants. */
export function withoutPool(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength < bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes;
}

export type UnreadableReason = 'not_json' | 'too_many_pairs' | 'charset';

/** Only `detail` may contain text of the Tenant. */
export class UnusableResult extends Error {
  readonly detail: string;
  readonly limit: string | undefined;

  constructor(detail: string, reason: string, limit?: string) {
    super(reason);
    this.name = 'UnusableResult';
    this.detail = detail;
    this.limit = limit;
  }
}
