import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface HttpRequest {
  method: string;
  url: string;
  /** Sent as `SVC-API-KEY`. */
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: object | string | undefined;
  /** Default 20 s. */
  timeoutMs?: number | undefined;
}

export interface HttpAnswer {
  /** 0 without a whole answer; whether the request did anything is then unknown. */
  status: number;
  /** The status, or else the reason: `timeout`, `ECONNRESET` and the like. */
  detail: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Before the request was sent, and after the whole answer had come or the client gave up, by `performance.now`. */
  startedAt: number;
  endedAt: number;
}

/** Keeps its connections, and never sends a request twice. */
export interface HttpClient {
  /** Resolves to an answer for failures too. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** @returns the parsed body. @throws {Error} where the status is not 2xx. */
  obtain<T = { id: string; key: string }>(request: HttpRequest): Promise<T>;
}

export function openHttpClient(stack: AsyncDisposableStack): HttpClient {
  const agent = stack.adopt(new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }), (opened) =>
    opened.destroy(),
  );
  const send = ({ method, url, key, headers, body, timeoutMs = 60_000 }: HttpRequest) =>
    new Promise<HttpAnswer>((resolve) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const all = {
        'content-length': String(Buffer.byteLength(text)),
        ...(text && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'svc-api-key': key }),
        ...headers,
      };
      const startedAt = performance.now();
      const sent = request(url, { agent, method, headers: all });
      const end = (answer: Pick<HttpAnswer, 'status' | 'detail' | 'headers' | 'body'>) => {
        clearTimeout(timer);
        resolve({ ...answer, startedAt, endedAt: performance.now() });
      };
      const fail = (detail: string) => end({ status: 0, detail, headers: {}, body: '' });
      const failBy = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message);
      const timer = setTimeout(() => {
        fail('timeout');
        sent.destroy();
      }, timeoutMs);
      sent.on('close', () => fail('closed'));
      sent.on('error', failBy).on('response', (response) => {
        let received = '';
        response
          .setEncoding('utf8')
          .on('error', failBy)
          .on('data', (chunk) => {
            received += chunk;
          })
          .on('end', () => {
            const { statusCode: status = 0 } = response;
            end({ status, detail: String(status), headers: response.headers, body: received });
          });
      });
      sent.end(text);
    });
  return {
    send,
    async obtain(wanted) {
      const { status, detail, body } = await send(wanted);
      if (status < 200 || status > 299) throw new Error(`${wanted.method} ${wanted.url}: ${detail} ${body}`);
      return body ? JSON.parse(body) : {};
    },
  };
}
