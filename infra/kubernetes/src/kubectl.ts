import { join } from 'node:path';
import { unpackDebianPackages } from '@sluice/local';

import { parseAllDocuments } from 'yaml';
import { CommandError, runCommand } from '../../local/src/processes/run-command.ts';
import type { Manifest } from './manifest.ts';

/**
 * Finds a kubectl for rendering: the one on the PATH, otherwise the package of this Debian or Ubuntu, which is unpacked
 * into `downloads` without being installed.
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

/** The manifests that `kubectl apply -k` would send. Needs no cluster. */
export async function render(kubectl: string, folder: string): Promise<Manifest[]> {
  const text = await runCommand(kubectl, ['kustomize', folder]);
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as Manifest;
  });
}
