import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeJavaScript } from './compile.ts';

const elementsFolder = resolve(import.meta.dirname, '../../../packages/elements');
export const releasedElements = join(elementsFolder, 'released');

/** What a module of nothing but types becomes. */
const nothing = 'export {};\n';

/** Files of a release by their path, as they are served. */
export type Release = Map<string, Buffer>;

export async function elementsVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(elementsFolder, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

export async function readRelease(folder: string): Promise<Release> {
  const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)));
}

/** The sources compiled one by one, as browsers load them: nothing joins or shortens them. */
export async function compileElements(): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-elements-'));
  try {
    await writeJavaScript(join(elementsFolder, 'src'), folder, 'esm');
    await cp(join(elementsFolder, 'src/field.css'), join(folder, 'field.css'));
    const release = await readRelease(folder);
    for (const [path, bytes] of release) if (bytes.toString() === nothing) release.delete(path);
    return release;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function writeRelease(release: Release, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, bytes] of release) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/** As a page gives it in `integrity` (Subresource Integrity), by path. */
export function hashesOf(release: Release): Record<string, string> {
  const hash = (bytes: Buffer) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  return Object.fromEntries([...release].map(([path, bytes]) => [path, hash(bytes)]));
}
