import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  status: number;
  body: string;
  tookMs: number;
}

export interface ApiRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request over a kept connection, with node:http, which adds less time than fetch. */
export function send({ url, method, headers, body, signal }: ApiRequest): Promise<Answer> {
  const start = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  request(url, { agent, method, headers, signal }, (answer) => {
    text(answer).then(
      (received) => resolve({ status: answer.statusCode ?? 0, body: received, tookMs: performance.now() - start }),
      reject,
    );
  })
    .on('error', reject)
    .end(body);
  return promise;
}
