import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { StaticFile, StaticFileType } from '@sluice/http-api';

const released = new URL('../../../../packages/elements/released/', import.meta.url);
const types: Readonly<Record<string, StaticFileType>> = { '.js': 'js', '.css': 'css' };

/** The hash of each file of each version, as pages name it (Subresource Integrity). */
type Hashes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Any page may load them. Without CORS browsers would not check their hashes. */
const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/**
 * The files of every version, at addresses that name it. A version never changes, because payment pages must know what
 * they run (PCI DSS 6.4.3). @throws {Error} for a file that differs from its released version.
 */
export function readReleasedFiles(folder = released): { files: StaticFile[]; newest: string } {
  const hashes = JSON.parse(readFileSync(new URL('integrity.json', folder), 'utf8')) as Hashes;
  const versions = Object.keys(hashes).toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  const files = versions.flatMap((version) =>
    Object.entries(hashes[version] ?? {}).map(([name, hash]) => readReleased(folder, `${version}/${name}`, hash)),
  );
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error('No version of the hosted fields was released');
  return { files, newest };
}

function readReleased(folder: URL, name: string, hash: string): StaticFile {
  const type = types[extname(name)];
  const body = readFileSync(new URL(name, folder));
  const isAsReleased = hash === `sha384-${createHash('sha384').update(body).digest('base64')}`;
  if (!type || !isAsReleased) throw new Error(`The file ${name} of the hosted fields is not as it was released`);
  return { path: `/elements/${name}`, type, body, caching: 'immutable', headers };
}
