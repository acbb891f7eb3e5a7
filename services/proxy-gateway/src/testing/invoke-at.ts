import { type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

interface Invoked {
  key?: string | undefined;
  proxyKey: string;
  /** Behind `/proxy`, byte for byte. */
  path?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Iterable<Buffer> | AsyncIterable<Buffer>;
}

export interface Refused {
  status: number;
  title?: string;
  detail?: string;
}

/** Unlike `fetch`, leaves path and query as they are. Without a body it is a GET. */
export async function invokeAt({ url }: { url: string }, invoked: Invoked): Promise<Refused> {
  const { key, proxyKey, path = '', headers = {}, body } = invoked;
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Refused>();
  const sent = request(
    {
      hostname,
      port,
      path: `/proxy${path}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'SVC-PROXY-KEY': proxyKey, ...(key && { 'SVC-API-KEY': key }), ...headers },
    },
    (response) => {
      text(response).then((answer) => {
        const { proxy_error: { title, detail } = {} as Partial<Refused> } = JSON.parse(answer);
        resolve({ status: response.statusCode ?? 0, ...(title && { title }), ...(detail && { detail }) });
      }, reject);
    },
  );
  sent.on('error', reject);
  if (body === undefined || typeof body === 'string') sent.end(body);
  else {
    for await (const chunk of body) sent.write(chunk);
    sent.end();
  }
  return promise;
}
