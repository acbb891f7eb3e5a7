import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkContext } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';
import { untilListening } from '../processes/until-listening.ts';
import type { CertificateFiles } from './certificate.ts';
import { startNginx } from './start-nginx.ts';

/** The destination's answer to every request: 80 bytes. */
export const answerBody = JSON.stringify({ id: '7f0c2f8e-5f0e-4b57-9d4f-0d6b8f5f3c11', status: 'accepted' }).padEnd(80);

export interface Destination extends AsyncDisposable {
  /** The name of the program. */
  name: string;
}

export interface DestinationOptions {
  port: number;
  /** Makes it speak TLS. */
  certificate?: CertificateFiles | undefined;
}

/** Starts nginx, or a Node process where there is none. */
export async function startDestination(
  context: BenchmarkContext,
  { port, certificate }: DestinationOptions,
): Promise<Destination> {
  const http = serverBlock({ port, certificate });
  const nginx = await startNginx(context, { name: 'destination', port, http });
  if (nginx) return { name: 'nginx', [Symbol.asyncDispose]: () => nginx[Symbol.asyncDispose]() };

  const { directory, signal } = context;
  const folder = join(directory, 'destination');
  await mkdir(folder, { recursive: true });
  const logFile = join(folder, 'output.log');
  const program = join(import.meta.dirname, 'node-destination.process.ts');
  const files = certificate ? [certificate.certificate, certificate.key] : [];
  const args = [program, String(port), answerBody, ...files];
  const started = await startOwned({ command: process.execPath, args, logFile });
  await untilListening(started, { port, logFile, signal });
  return { ...started, name: `node ${process.version}, as there is no nginx; it takes more of its core` };
}

/** Answers everything with the same text. */
function serverBlock({ port, certificate }: DestinationOptions): string {
  const tls = certificate ? `ssl_certificate ${certificate.certificate}; ssl_certificate_key ${certificate.key};` : '';
  return `  server {
    listen 127.0.0.1:${port}${certificate ? ' ssl' : ''};
    ${tls}
    location / { return 200 '${answerBody}'; }
  }`;
}
