/** `args.body` is read from its text, and the result is written in the form in which it is sent. */
export interface TransformMessage {
  /** A body that is no UTF-8 has replacement characters. */
  text: string;
  /** How the body is read. `none`: without a content type it is JSON if it parses. */
  kind: 'json' | 'form' | 'text' | 'none';
  contentType: string | undefined;
  limits: MessageLimits;
}

export interface MessageLimits {
  formPairs: number;
  headerLines: number;
  /** Names and values, with `: ` and the line's end. */
  headerBytes: number;
}

export interface WrittenMessage {
  /** Names and values in turn; undefined: the message keeps its own. */
  headers: string[] | undefined;
  /** Undefined: the message keeps its own. */
  body: string | undefined;
  /** The body is JSON, and no header says so. */
  lacksContentType: boolean;
}

export type UnreadableReason = 'not_json' | 'too_many_pairs';

/** Only `detail` may hold text of the Tenant's. */
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
