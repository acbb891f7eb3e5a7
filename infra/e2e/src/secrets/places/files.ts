import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Finder } from '../search/finder.ts';

/** What the launcher keeps for its owner alone; each file is for what is in it. */
const keptSecrets = new Set([
  'credentials.json',
  'environment',
  'secrets.json',
  'postgres/password',
  'redis/redis.conf',
]);

/** The logs of all processes, line by line. */
export async function searchLogs(directory: string, finder: Finder): Promise<void> {
  const folder = join(directory, 'logs');
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'latin1');
    for (const line of text.split('\n')) {
      if (line !== '')
        finder.search(`log of ${name.replace(/\.log$/, '')}`, line.slice(0, 300), Buffer.from(line, 'latin1'));
    }
  }
}

/**
 * Everything else that is on the disk, the write-ahead log and the files of tables included, so that what was deleted is
 * found too. Call it when nothing runs any more.
 */
export async function searchFiles(directory: string, finder: Finder): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = relative(directory, join(entry.parentPath, entry.name));
    if (!entry.isFile() || path.startsWith('logs/') || keptSecrets.has(path)) continue;
    const bytes = await readFile(join(directory, path));
    finder.search('files', path, withoutZeros(bytes));
  }
}

/** A file of the write-ahead log is mostly empty. */
function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}
