import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { listen } from './listen.ts';

const [origin = ''] = process.argv.slice(2);
const pool = new Pool(origin, { pipelining: 1 });

/** The minimal proxy on undici: it passes on bodies and headers unchanged, both ways. */
class PassThrough implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {}

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    const headers = Array.isArray(rawHeaders) ? rawHeaders : [];
    this.#response.writeHead(
      status,
      headers.map((part) => part.toString('latin1')),
    );
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response.write(chunk);
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (!this.#response.headersSent) this.#response.writeHead(502);
    this.#response.end(error.message);
  }
}

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer | undefined): void {
  const { method = 'GET', url: path = '/', rawHeaders: headers } = request;
  pool.dispatch({ method, path, headers, body: body ?? null }, new PassThrough(response));
}

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => forward(request, response, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  }),
);
