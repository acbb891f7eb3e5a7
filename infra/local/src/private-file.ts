import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { errorCode } from './launch-error.ts';

/** Replaces a file as a whole; only the owner may read it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, path);
}

/** The text of a file; undefined if there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The text of a file, which is made with that text if there is none. */
export async function readOrCreate(path: string, create: () => string): Promise<string> {
  const found = await readIfPresent(path);
  if (found !== undefined) return found;
  const text = create();
  await writePrivateFile(path, text);
  return text;
}
