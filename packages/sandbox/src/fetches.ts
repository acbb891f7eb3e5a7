import { ServiceError } from '@sluice/problems';

/** What code passes to `fetch`. The URL is absolute; names of headers are in lower case. */
export interface FetchRequest {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  body: Uint8Array | undefined;
}

export interface FetchAnswer {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  /** Called at most once. @throws as {@link FetchHost} if the body is incomplete or too large. */
  body(): Promise<Uint8Array>;
}

/**
 * Resolves with the head of the response. The signal ends the call and its body, even after the run.
 * @throws {ServiceError} whose detail code may see.
 */
export type FetchHost = (request: FetchRequest, signal: AbortSignal) => Promise<FetchAnswer>;

interface UnderWay {
  abort: AbortController;
  body: FetchAnswer['body'] | undefined;
}

/** The calls of `fetch` of one run, which no other run can read or end. */
export class Fetches {
  readonly #fetch: FetchHost;
  readonly #calls = new Map<number, UnderWay>();

  constructor(fetch: FetchHost) {
    this.#fetch = fetch;
  }

  /** @returns the head of the response as JSON. */
  async begin(id: number, requestJson: string, body: Uint8Array | undefined): Promise<string> {
    const call: UnderWay = { abort: new AbortController(), body: undefined };
    this.#calls.set(id, call);
    const answer = await this.#fetch({ ...JSON.parse(requestJson), body }, call.abort.signal);
    call.body = answer.body;
    const { status, statusText, headers } = answer;
    return JSON.stringify({ status, statusText, headers });
  }

  /** The body of the call with this id. */
  async body(id: number): Promise<Uint8Array> {
    const read = this.#calls.get(id)?.body;
    if (!read)
      throw new ServiceError(
        'bad_request',
        'The response to this call of fetch was already read or aborted, or belongs to another run',
      );
    return read();
  }

  abort(id: number): void {
    this.#calls.get(id)?.abort.abort();
  }

  abortAll(): void {
    for (const { abort } of this.#calls.values()) abort.abort();
  }
}
