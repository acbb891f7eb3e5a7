import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { errorCode } from './launch-error.ts';

/** Replaces a file atomically; only its owner may read it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, path);
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the file with the given text if it does not exist. */
export async function readOrCreate(path: string, create: () => string): Promise<string> {
  const found = await readIfPresent(path);
  if (found !== undefined) return found;
  const text = create();
  await writePrivateFile(path, text);
  return text;
}
