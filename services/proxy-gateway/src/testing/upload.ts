import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface UploadAnswer {
  status: number;
  detail: string | undefined;
  headers: IncomingMessage['headers'];
}

/** Without a `Content-Length` the body goes in chunks. Its rest is not sent once the whole answer has come. */
export function upload(
  url: string,
  headers: OutgoingHttpHeaders,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<UploadAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<UploadAnswer>();
  const outgoing = request(`${url}/proxy`, { method: 'POST', headers }, (response) => {
    text(response).then((body) => {
      const { proxy_error: problem } = JSON.parse(body);
      resolve({ status: response.statusCode ?? 0, detail: problem?.detail, headers: response.headers });
      if (!outgoing.writableFinished) outgoing.destroy();
    }, reject);
  });
  outgoing.on('error', reject);
  pipeline(Readable.from(chunks, { objectMode: false }), outgoing, (error) => {
    if (error) reject(error);
  });
  return promise;
}

export function* repeated(piece: string, times: number): Generator<Buffer> {
  const perChunk = Math.ceil(65_536 / piece.length);
  const chunk = Buffer.from(piece.repeat(perChunk));
  for (let left = times; left > 0; left -= perChunk) {
    yield left >= perChunk ? chunk : chunk.subarray(0, left * Buffer.byteLength(piece));
  }
}
