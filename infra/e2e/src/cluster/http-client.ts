import { Agent, type IncomingHttpHeaders, request } from 'node:http';

interface HttpRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** There was no whole answer; whether the request did anything is not known. */
export class NoAnswer extends Error {
  /** `ECONNRESET` and the like, or `timeout`. */
  readonly code: string;

  constructor(code: string) {
    super(`There was no answer: ${code}`);
    this.name = 'NoAnswer';
    this.code = code;
  }
}

/** Sends requests over connections that are kept; never sends one twice. */
export interface HttpClient {
  /** @throws {NoAnswer} */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export function createHttpClient(): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return {
    send: ({ method, url, headers, body = '', timeoutMs }) =>
      new Promise((resolve, reject) => {
        const length = String(Buffer.byteLength(body));
        const sent = request(url, { agent, method, headers: { ...headers, 'content-length': length } });
        const timer = setTimeout(() => sent.destroy(new NoAnswer('timeout')), timeoutMs);
        const fail = (error: NodeJS.ErrnoException) => {
          clearTimeout(timer);
          reject(error instanceof NoAnswer ? error : new NoAnswer(error.code ?? error.message));
        };
        sent.on('close', () => fail(new NoAnswer('closed')));
        sent.on('error', fail).on('response', (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('error', fail)
            .on('data', (chunk) => {
              text += chunk;
            })
            .on('end', () => {
              clearTimeout(timer);
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
            });
        });
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
