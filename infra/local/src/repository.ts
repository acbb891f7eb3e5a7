import { join } from 'node:path';

export const repositoryRoot = join(import.meta.dirname, '..', '..', '..');

/** The default folder for files of this machine; git ignores it. */
export const defaultDirectory = join(repositoryRoot, '.sluice');
