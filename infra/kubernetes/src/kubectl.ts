import { join } from 'node:path';
import { unpackDebianPackages } from '@sluice/local';

import { parseAllDocuments } from 'yaml';
import { CommandError, runCommand } from '../../local/src/processes/run-command.ts';
import type { Manifest } from './manifest.ts';

/**
 * A kubectl to render with: the one on the PATH, otherwise that of the Debian or Ubuntu we are on, unpacked into
 * `downloads` without installing it.
 */
export async function findKubectl(downloads: string): Promise<string> {
  try {
    await runCommand('kubectl', ['version', '--client']);
    return 'kubectl';
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return join(
      await unpackDebianPackages({ packages: ['kubernetes-client'], directory: downloads }),
      'usr/bin/kubectl',
    );
  }
}

/** What `kubectl apply -k` would send. Asks no cluster. */
export async function render(kubectl: string, folder: string): Promise<Manifest[]> {
  const text = await runCommand(kubectl, ['kustomize', folder]);
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as Manifest;
  });
}
