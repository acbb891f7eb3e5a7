import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkContext } from '../benchmark.ts';
import { startListening } from '../processes/owned-process.ts';
import type { CertificateFiles } from './echo.ts';
import { startNginx } from './nginx.ts';

/** The destination's answer to every request: 80 bytes. */
export const answerBody = JSON.stringify({ id: '7f0c2f8e-5f0e-4b57-9d4f-0d6b8f5f3c11', status: 'accepted' }).padEnd(80);

export interface DestinationOptions {
  port: number;
  /** Makes it speak TLS. */
  certificate?: CertificateFiles | undefined;
}

/** Starts nginx, or a Node process where there is none, which answers everything with the same text. @returns its name. */
export async function startDestination(
  context: BenchmarkContext,
  { port, certificate }: DestinationOptions,
  opened: AsyncDisposableStack,
): Promise<string> {
  const tls = certificate && `ssl_certificate ${certificate.certificate}; ssl_certificate_key ${certificate.key};`;
  const http = `  server {
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ${tls ?? ''}
    location / { return 200 '${answerBody}'; }
  }`;
  if (await startNginx(context, { name: 'destination', port, http }, opened)) return 'nginx';

  const { directory, signal } = context;
  const folder = join(directory, 'destination');
  await mkdir(folder, { recursive: true });
  const file = join(import.meta.dirname, 'node-destination.process.ts');
  const args = [String(port), answerBody, ...(certificate ? [certificate.certificate, certificate.key] : [])];
  opened.use(await startListening({ file, args, logFile: join(folder, 'output.log'), signal }));
  return `node ${process.version}, as there is no nginx; it takes more of its core`;
}
