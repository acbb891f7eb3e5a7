import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface HttpRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
}

export interface HttpAnswer {
  /** 0 where no whole answer came: whether the request did anything is not known. */
  status: number;
  /** The status, or why there is none: `timeout`, `ECONNRESET` and the like. */
  detail: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends requests over connections that are kept, and never sends one twice. A failure is an answer, too. */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpAnswer>;
}

export function createHttpClient(stack: AsyncDisposableStack): HttpClient {
  const agent = stack.adopt(new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }), (opened) =>
    opened.destroy(),
  );
  return {
    send: ({ method, url, headers, body = '', timeoutMs }) =>
      new Promise((resolve) => {
        const length = String(Buffer.byteLength(body));
        const sent = request(url, { agent, method, headers: { ...headers, 'content-length': length } });
        const end = (answer: HttpAnswer) => {
          clearTimeout(timer);
          resolve(answer);
        };
        const fail = (detail: string) => end({ status: 0, detail, headers: {}, body: '' });
        const failBy = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message);
        const timer = setTimeout(() => {
          fail('timeout');
          sent.destroy();
        }, timeoutMs);
        sent.on('close', () => fail('closed'));
        sent.on('error', failBy).on('response', (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('error', failBy)
            .on('data', (chunk) => {
              text += chunk;
            })
            .on('end', () => {
              const { statusCode: status = 0 } = response;
              end({ status, detail: String(status), headers: response.headers, body: text });
            });
        });
        sent.end(body);
      }),
  };
}
