import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Answer, CallOptions } from './call.ts';

/** {@link call} with a `Host` among the headers, which `fetch` sets itself. */
export async function callByHost(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {} }: CallOptions,
): Promise<Answer> {
  const sent = request(url + path, {
    method,
    headers: {
      ...(key !== undefined && { 'SVC-API-KEY': key }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  const [response]: [IncomingMessage] = (await once(sent, 'response')) as [IncomingMessage];
  const answered = await text(response);
  const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '') && answered !== '';
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(
      Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      ),
    ),
    body: isJson ? JSON.parse(answered) : answered,
  };
}
