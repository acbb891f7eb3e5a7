import { join } from 'node:path';

/** The root folder of the repository, in which the services lie. */
export const repositoryRoot = join(import.meta.dirname, '..', '..', '..');

/** Where things that are made on this machine are kept by default; git ignores it. */
export const defaultDirectory = join(repositoryRoot, '.sluice');
