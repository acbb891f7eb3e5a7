import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { issueCertificate } from '@sluice/testing';
import type { BenchmarkContext } from '../benchmark.ts';

/** PEM files, and what is in them. */
export interface CertificateFiles {
  /** Also the authority that clients must trust. */
  certificate: string;
  key: string;
  options: { cert: string; key: string };
}

/** Creates a self-signed certificate for 127.0.0.1, valid for a day. */
export async function writeCertificate({ directory }: BenchmarkContext): Promise<CertificateFiles> {
  const { certificate: cert, key } = issueCertificate('127.0.0.1');
  const files = { certificate: join(directory, 'certificate.pem'), key: join(directory, 'key.pem') };
  await writeFile(files.certificate, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  return { ...files, options: { cert, key } };
}

export interface Echo extends AsyncDisposable {
  url: string;
  port: number;
  last():
    | { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string }
    | undefined;
}

/** A destination that answers with the received body; with a certificate it speaks TLS. */
export async function startEcho(certificate?: CertificateFiles): Promise<Echo> {
  let last: ReturnType<Echo['last']>;
  const respond: RequestListener = async (request, response) => {
    const body = await text(request);
    last = { method: request.method, url: request.url, headers: request.headers, body };
    response.setHeader('Content-Type', 'application/json');
    response.end(body);
  };
  const server = certificate ? createTlsServer(certificate.options, respond) : createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
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
