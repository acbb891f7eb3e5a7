import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';

/** Replaces a file as a whole. */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(unfinished, text, { mode, flag: 'wx' });
  await rename(unfinished, path);
}

/** The text of a file; undefined if there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The text of a file. If there is no file, creates it. Sets its mode in both cases. */
export async function readOrCreate(path: string, create: () => string, mode = 0o600): Promise<string> {
  const found = await readIfPresent(path);
  if (found !== undefined) {
    await chmod(path, mode); // an earlier version may have created it with another mode
    return found;
  }
  const text = create();
  await replaceFile(path, text, mode);
  return text;
}
