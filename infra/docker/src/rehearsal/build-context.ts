import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The files that `docker build` may see: those that .dockerignore leaves, by their paths below the folder. */
export async function buildContextFiles(folder: string): Promise<string[]> {
  const isIgnored = readDockerignore(await readFile(join(folder, '.dockerignore'), 'utf8'));
  const below = async (path: string): Promise<string[]> => {
    const entries = await readdir(path, { withFileTypes: true });
    const found = entries.map((entry) => {
      const inner = join(path, entry.name);
      // No rule of ours keeps anything below a folder that another ignores
      if (entry.isDirectory()) return isIgnored(relative(folder, inner)) ? [] : below(inner);
      return entry.isFile() && !isIgnored(relative(folder, inner)) ? [inner] : [];
    });
    return (await Promise.all(found)).flat();
  };
  return (await below(folder)).map((path) => relative(folder, path));
}

/** Whether a path is ignored: the last line decides that matches it or a folder above it. */
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

/** `**` is any number of folders, `*` anything but a slash, a leading dot included. */
function toPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*\*\/|\*|\?/g, (wildcard) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[wildcard] ?? '[^/]');
  return new RegExp(`^${source}(?:/.*)?$`);
}
