import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * The files that `docker build` sees, which are those that .dockerignore does not exclude. Paths are relative to the
 * folder.
 */
export async function buildContextFiles(folder: string): Promise<string[]> {
  const isIgnored = readDockerignore(await readFile(join(folder, '.dockerignore'), 'utf8'));
  const below = async (path: string): Promise<string[]> => {
    const entries = await readdir(path, { withFileTypes: true });
    const found = entries.map((entry) => {
      const inner = join(path, entry.name);
      // None of our rules re-includes anything below an ignored folder.
      if (entry.isDirectory()) return isIgnored(relative(folder, inner)) ? [] : below(inner);
      return entry.isFile() && !isIgnored(relative(folder, inner)) ? [inner] : [];
    });
    return (await Promise.all(found)).flat();
  };
  return (await below(folder)).map((path) => relative(folder, path));
}

/** Whether a path is ignored. The last line that matches it, or a folder above it, decides. */
export function readDockerignore(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), pattern: toPattern(line.replace('!', '')) }));
  return (path) => {
    const last = rules.findLast(({ pattern }) => pattern.test(path));
    return last !== undefined && !last.keeps;
  };
}

/** `**` stands for any number of folders, `*` for anything without a slash, including a leading dot. */
function toPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*\*\/|\*|\?/g, (wildcard) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[wildcard] ?? '[^/]');
  return new RegExp(`^${source}(?:/.*)?$`);
}
