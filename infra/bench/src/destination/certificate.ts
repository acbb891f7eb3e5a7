import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueCertificate } from '@sluice/testing';
import type { BenchmarkContext } from '../benchmark.ts';

export interface CertificateFiles {
  /** Also the authority that clients must trust. */
  certificate: string;
  key: string;
}

/** Creates a self-signed certificate for 127.0.0.1, valid for a day, as PEM files. */
export async function createCertificate({ directory }: BenchmarkContext): Promise<CertificateFiles> {
  const { certificate, key } = issueCertificate('127.0.0.1');
  const files = { certificate: join(directory, 'certificate.pem'), key: join(directory, 'key.pem') };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, key, { mode: 0o600 });
  return files;
}
