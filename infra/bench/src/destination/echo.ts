import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CertificateFiles } from './certificate.ts';

interface Received {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Echo extends AsyncDisposable {
  port: number;
  last(): Received | undefined;
}

/** A destination that answers with the received body; with a certificate it speaks TLS. */
export async function startEcho(certificate?: CertificateFiles): Promise<Echo> {
  let last: Received | undefined;
  const respond: RequestListener = async (request, response) => {
    const body = await text(request);
    last = { method: request.method, headers: request.headers, body };
    response.setHeader('Content-Type', 'application/json');
    response.end(body);
  };
  const server = certificate
    ? createTlsServer({ cert: await readFile(certificate.certificate), key: await readFile(certificate.key) }, respond)
    : createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    last: () => last,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
