import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchmarkContext } from '../benchmark.ts';

const execute = promisify(execFile);

export interface CertificateFiles {
  /** Also what those who connect must trust. */
  certificate: string;
  key: string;
}

/** openssl asks for one, and that of a package that was only unpacked is not where it looks. */
const configuration = `[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = Benchmark
[extensions]
basicConstraints = critical, CA:true
subjectAltName = IP:127.0.0.1
`;

/** A certificate for 127.0.0.1 that is its own authority, for a day; as PEM files. @throws where there is no openssl. */
export async function createCertificate({ directory, programs, signal }: BenchmarkContext): Promise<CertificateFiles> {
  const openssl = await programs.find('openssl', ['openssl']);
  if (!openssl) throw new Error('There is no openssl to make a certificate with');
  const files = { certificate: join(directory, 'certificate.pem'), key: join(directory, 'key.pem') };
  const settings = join(directory, 'openssl.cnf');
  await writeFile(settings, configuration);
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const args = ['req', '-x509', ...kind, '-config', settings, '-out', files.certificate, '-keyout', files.key];
  await execute(openssl.command, args, { env: openssl.env, signal });
  return files;
}
