/** A message that a transform rewrites: `args.body` is read from its body, and the result is written as it is sent. */
export interface TransformMessage {
  /** The body; a body that is no UTF-8 has replacement characters. */
  text: string;
  /** How the body is read. `none`: there was no content type, so it is JSON if it parses. */
  kind: 'json' | 'form' | 'text' | 'none';
  /** It stays where the transform returns no headers. */
  contentType: string | undefined;
  limits: MessageLimits;
}

/** How large a message may become by its transform. */
export interface MessageLimits {
  /** Pairs of a form, in both directions. */
  formPairs: number;
  /** Lines of headers that the transform returns. */
  headerLines: number;
  /** Names and values of these lines, with `: ` and the line's end. */
  headerBytes: number;
}

/** What a transform returned, as it is sent. */
export interface WrittenMessage {
  /** Names and values in turn; undefined: the message keeps its own. */
  headers: string[] | undefined;
  /** Undefined: the message keeps its own. */
  body: string | undefined;
  /** The body is JSON, and no header says so. */
  lacksContentType: boolean;
}

/** Why a body could not be read for `args.body`. */
export type UnreadableReason = 'not_json' | 'too_many_pairs';

/** Thrown where a result cannot be sent. Only `detail` may hold text of the Tenant's. */
export class UnusableResult extends Error {
  readonly detail: string;
  /** The limit that is the reason, as metrics name it. */
  readonly limit: string | undefined;

  constructor(detail: string, reason: string, limit?: string) {
    super(reason);
    this.name = 'UnusableResult';
    this.detail = detail;
    this.limit = limit;
  }
}
