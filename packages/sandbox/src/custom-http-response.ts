/** A transform answered for itself (`CustomHttpResponseError`): the whole answer to the caller, unwrapped. */
export class CustomHttpResponse extends Error {
  /** An integer from 100 to 599. */
  readonly status: number;
  /** JSON text of an object. */
  readonly headersJson: string;
  /** JSON text; undefined: no body. */
  readonly bodyJson: string | undefined;

  constructor(status: number, headersJson: string, bodyJson: string | undefined) {
    super(`The transform answered ${status}`);
    this.name = 'CustomHttpResponse';
    this.status = status;
    this.headersJson = headersJson;
    this.bodyJson = bodyJson;
  }
}
