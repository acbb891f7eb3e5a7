import type { WrittenMessage } from './thread/message/transform-message.ts';
import type { GuestFailure } from './thread/outcome.ts';

/** The whole response to the caller, from a `CustomHttpResponseError` that the transform threw. */
export class CustomHttpResponse extends Error {
  /** An integer from 100 to 599. */
  readonly status: number;
  /** JSON text of an object; empty if the run had a message. */
  readonly headersJson: string;
  readonly bodyJson: string | undefined;
  /** The bytes to send, if the run had a message. */
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
