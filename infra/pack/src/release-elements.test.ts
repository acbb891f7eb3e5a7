import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  compileElements,
  elementsVersion,
  hashesOf,
  type Release,
  readRelease,
  releasedElements,
} from './release-elements.ts';

/** What a browser loads for these modules, with all that they import at once; each file is sent by itself. */
function sizeOf(release: Release, paths: readonly string[]): number {
  const loaded = new Set<string>();
  const load = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = release.get(path)?.toString() ?? '';
    for (const [, to = ''] of text.matchAll(/ from ["'](\.[^"']+)["']/g)) load(join(path, '..', to));
  };
  paths.forEach(load);
  return [...loaded].reduce((total, path) => total + gzipSync(release.get(path) ?? '').length, 0);
}

test('the newest version is what its sources compile to, byte for byte, and the hashes of all are right', async () => {
  const version = await elementsVersion();
  const text = await readFile(join(releasedElements, 'integrity.json'), 'utf8');
  const hashes = JSON.parse(text) as Record<string, Record<string, string>>;
  const released = await readRelease(join(releasedElements, version));
  const compiled = await compileElements();
  expect([...released.keys()]).toEqual([...compiled.keys()]);
  for (const [path, bytes] of compiled) expect(released.get(path)?.toString()).toBe(bytes.toString());
  expect(Object.keys(hashes)).toContain(version);
  const reference = await readFile(join(releasedElements, '../REFERENCE.md'), 'utf8');
  expect(reference).toContain(hashes[version]?.['elements.js']);
  for (const [name, expected] of Object.entries(hashes)) {
    expect(hashesOf(await readRelease(join(releasedElements, name)))).toEqual(expected);
  }
});

/** SHA-256 of the hashes of each released version. Add a line for a new version; no line may change once pages may use it. */
const releases = {
  '0.1.0': '462a84bf3178e427816c02f7d2a8745bd69ae161b3deba95ecaccff1f78f454e',
  '0.2.0': 'c1dc41238672b81eec6970b0285b9b7ac88b646359cb6acd4ce055117ee63ac5',
};

test('no file of a released version has changed', async () => {
  const hashes = JSON.parse(await readFile(join(releasedElements, 'integrity.json'), 'utf8')) as Record<string, object>;
  const digest = (files: object) => createHash('sha256').update(JSON.stringify(files)).digest('hex');
  expect(Object.fromEntries(Object.entries(hashes).map(([name, files]) => [name, digest(files)]))).toEqual(releases);
});

test('the script of the page imports nothing, because its hash says nothing of what it would import', async () => {
  const script = (await compileElements()).get('elements.js')?.toString() ?? '';
  expect(script).toContain('export function fields');
  expect(script).not.toMatch(/\bimport\b/);
});

test('what a browser loads is small', async () => {
  const release = await compileElements();
  const page = sizeOf(release, ['elements.js']);
  const card = sizeOf(release, ['field.js', 'field/inputs.js', 'field/card-entries.js']);
  const text = sizeOf(release, ['field.js', 'field/inputs.js', 'field/text-entry.js']);
  const reveal = sizeOf(release, ['field.js', 'reveal/revealed.js']);
  console.log(`gzip, not minified: ${JSON.stringify({ page, card, text, reveal })}`);
  expect(page).toBeLessThan(2.5 * 1024);
  // With all that they need to send what was typed.
  for (const kind of [card, text, reveal]) expect(kind).toBeLessThan(12.5 * 1024);
});
