import type { WrittenMessage } from './thread/message/transform-message.ts';
import type { GuestFailure } from './thread/outcome.ts';

/** A transform answered for itself (`CustomHttpResponseError`): the whole answer to the caller, unwrapped. */
export class CustomHttpResponse extends Error {
  /** An integer from 100 to 599. */
  readonly status: number;
  /** JSON text of an object; empty where the run had a message. */
  readonly headersJson: string;
  /** JSON text; undefined: no body. */
  readonly bodyJson: string | undefined;
  /** As it is sent, where the run had a message. */
  readonly written: WrittenMessage | undefined;

  constructor({ status, headersJson, bodyJson, written }: Omit<GuestFailure & { kind: 'response' }, 'kind'>) {
    super(`The transform answered ${status}`);
    this.name = 'CustomHttpResponse';
    this.status = status;
    this.headersJson = headersJson;
    this.bodyJson = bodyJson;
    this.written = written;
  }
}
